// The graph on the page: the neighbors of a point along its edges, and the shortest path between two points.

export class Network {
  constructor(n, edges) {
    const { heads, tails } = edges;
    this.edges = edges;
    this.begin = new Int32Array(n + 1);
    for (let e = 0; e < heads.length; e++) {
      this.begin[heads[e] + 1]++;
      this.begin[tails[e] + 1]++;
    }
    for (let i = 0; i < n; i++) this.begin[i + 1] += this.begin[i];
    const next = this.begin.slice();
    this.ends = new Int32Array(2 * heads.length);
    this.edgeAt = new Int32Array(2 * heads.length);
    for (let e = 0; e < heads.length; e++) {
      for (const [from, to] of [[heads[e], tails[e]], [tails[e], heads[e]]]) {
        this.ends[next[from]] = to;
        this.edgeAt[next[from]++] = e;
      }
    }
  }

  // The neighbors of a point with the edge to each, the strongest first.
  neighbors(i) {
    const found = [];
    for (let k = this.begin[i]; k < this.begin[i + 1]; k++) found.push({ point: this.ends[k], edge: this.edgeAt[k] });
    const { weights } = this.edges;
    return found.sort((a, b) => weights[b.edge] - weights[a.edge] || a.point - b.point);
  }

  // The points on the shortest path (Dijkstra), where an edge of weight w has the length 1/sqrt(w); null without a path.
  shortestPath(from, to) {
    const n = this.begin.length - 1;
    const distance = new Float64Array(n).fill(Infinity);
    const before = new Int32Array(n).fill(-1);
    const heap = new Heap();
    distance[from] = 0;
    heap.push(0, from);
    while (heap.size) {
      const [reached, i] = heap.pop();
      if (i === to) break;
      if (reached > distance[i]) continue;
      for (let k = this.begin[i]; k < this.begin[i + 1]; k++) {
        const j = this.ends[k];
        const length = reached + 1 / Math.sqrt(this.edges.weights[this.edgeAt[k]]);
        if (length < distance[j]) {
          distance[j] = length;
          before[j] = i;
          heap.push(length, j);
        }
      }
    }
    if (distance[to] === Infinity) return null;
    const path = [to];
    while (path[0] !== from) path.unshift(before[path[0]]);
    return path;
  }
}

// A binary heap of [key, value], the smallest key first.
export class Heap {
  constructor() {
    this.items = [];
  }

  get size() {
    return this.items.length;
  }

  push(key, value) {
    const { items } = this;
    let at = items.push([key, value]) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (items[up][0] <= items[at][0]) break;
      [items[up], items[at]] = [items[at], items[up]];
      at = up;
    }
  }

  pop() {
    const { items } = this;
    const top = items[0];
    const last = items.pop();
    if (items.length) {
      items[0] = last;
      let at = 0;
      for (;;) {
        let least = at;
        for (const down of [2 * at + 1, 2 * at + 2]) {
          if (down < items.length && items[down][0] < items[least][0]) least = down;
        }
        if (least === at) break;
        [items[least], items[at]] = [items[at], items[least]];
        at = least;
      }
    }
    return top;
  }
}
