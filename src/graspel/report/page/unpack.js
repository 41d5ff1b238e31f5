// Reads the data blocks of the page: JSON, in which long arrays of numbers are base64 text.

export function readBlock(id) {
  const block = document.getElementById(id);
  return block ? JSON.parse(block.textContent) : null;
}

export function bytes(packed) {
  const raw = atob(packed);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

export const floats = (packed) => new Float32Array(bytes(packed).buffer);
export const ints = (packed) => new Int32Array(bytes(packed).buffer);
export const shorts = (packed) => new Uint16Array(bytes(packed).buffer);

// From rows x1 x2 ..., y1 y2 ..., (z1 z2 ...) to points x1 y1 z1, x2 y2 z2, ...; z is 0 in the plane.
export function interleave(rows, n) {
  const points = new Float32Array(3 * n);
  const axes = n ? rows.length / n : 0;
  for (let a = 0; a < axes; a++) for (let i = 0; i < n; i++) points[3 * i + a] = rows[a * n + i];
  return points;
}
