// Names of groups on a drawing: where each stands, and which are shown so that none covers another.

const SAMPLE = 1500;  // points of a group from which its middle is found

// For every group a point of its own in its middle: the member nearest to the medians of the coordinates.
export function middlePoints(points, classes, nGroups) {
  const members = Array.from({ length: nGroups }, () => []);
  for (let i = 0; i < classes.length; i++) members[classes[i]]?.push(i);
  return members.map((group) => {
    if (!group.length) return -1;
    const step = Math.max(1, Math.floor(group.length / SAMPLE));
    const some = group.filter((_, k) => k % step === 0);
    const middle = [0, 1, 2].map((a) => some.map((i) => points[3 * i + a]).sort((x, y) => x - y)[some.length >> 1]);
    const off = (i) => middle.reduce((sum, m, a) => sum + (points[3 * i + a] - m) ** 2, 0);
    return some.reduce((best, i) => (off(i) < off(best) ? i : best), some[0]);
  });
}

// Places of boxes (x, y, width, height, weight): heavy boxes first, each moved a little if it would cover another,
// and left out (null) if that does not help or it would leave the drawing.
export function placeBoxes(boxes, width, height) {
  const placed = [];
  const result = boxes.map(() => null);
  const covers = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
  const order = boxes.map((_, k) => k).sort((a, b) => boxes[b].weight - boxes[a].weight);
  for (const k of order) {
    const box = boxes[k];
    for (const shift of [0, -18, 18, -36, 36]) {
      const x = Math.min(Math.max(box.x, 2), width - box.width - 2);
      const y = Math.min(Math.max(box.y + shift, 2), height - box.height - 2);
      const moved = { ...box, x, y };
      const inside = y >= 0 && Math.abs(y - box.y) < 40 + box.height && Math.abs(x - box.x) < box.width;
      if (inside && x >= 0 && !placed.some((other) => covers(moved, other))) {
        placed.push(moved);
        result[k] = moved;
        break;
      }
    }
  }
  return result;
}
