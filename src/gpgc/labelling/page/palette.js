// Petroff's ten colours, made for eyes that see colours differently; repeated beyond ten classes.
export const PALETTE = [
  "#3f90da", "#ffa90e", "#bd1f01", "#832db6", "#92dadd",
  "#a96b59", "#e76300", "#b9ac70", "#717581", "#94a4a2",
];
