// How a point is placed and painted, in the language of WebGL2.
export const CLASSES = 100; // of more, colours repeat

export const VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec2 here;
layout(location = 1) in vec2 there;
layout(location = 2) in vec2 said;
layout(location = 3) in float shown;
uniform vec3 view;
uniform vec2 shape;
uniform float glide, size;
uniform vec3 palette[${CLASSES}];
out vec4 colour;
out float ring, square;
void main() {
  vec2 p = (mix(here, there, glide) * 2.0 - 1.0 - view.xy) * view.z;
  gl_Position = vec4(p * shape, 0.0, 1.0);
  float code = floor(said.x * 255.0 + 0.5), sure = said.y * 255.0;
  ring = sure > 254.5 ? 1.0 : 0.0;
  bool unknown = code > 254.5;
  square = unknown ? 0.0 : mod(floor(code / 20.0), 2.0);
  vec3 base = unknown ? vec3(0.55) : palette[int(mod(code, ${CLASSES}.0))];
  float alpha = unknown ? 0.4 : ring > 0.5 ? 1.0 : 0.12 + 0.8 * pow(sure / 254.0, 2.0);
  colour = vec4(base, shown > 0.5 ? alpha : 0.05);
  gl_PointSize = size * (ring > 0.5 && shown > 0.5 ? 1.9 : 1.0);
  ring *= shown;
}`;

export const FRAGMENT = `#version 300 es
precision highp float;
in vec4 colour;
in float ring, square;
uniform vec3 ink;
out vec4 pixel;
void main() {
  vec2 p = gl_PointCoord * 2.0 - 1.0;
  float r = square > 0.5 ? max(abs(p.x), abs(p.y)) * 1.15 : length(p);
  if (r > 1.0) discard;
  float edge = smoothstep(1.0, 0.8, r);
  vec3 c = ring > 0.5 && r > 0.62 ? ink : colour.rgb;
  float a = colour.a * edge;
  pixel = vec4(c * a, a);
}`;
