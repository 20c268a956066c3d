// Petroff's colours, made for eyes that see colours differently, without the greys, then others
// that differ from them; repeated beyond twenty classes.
export const PALETTE = [
  "#3f90da", "#ffa90e", "#bd1f01", "#832db6", "#92dadd", "#a96b59", "#e76300", "#b9ac70", "#2f8f4e", "#e377c2",
  "#1b3f8b", "#9bd770", "#5c1a33", "#00a88f", "#f7d154", "#7f6bf2", "#5b5a00", "#ff9c8a", "#0b5d6b", "#c9007a",
];
