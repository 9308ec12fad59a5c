// The arithmetic of VirtualList, without a DOM: row positions from measured and estimated heights.

export interface Range {
  /** First row to draw. */
  start: number;
  /** One past the last row to draw. */
  end: number;
  /** Pixels above the first drawn row. */
  offset: number;
  /** Height of all rows. */
  total: number;
}

/** Heights by row; rows never seen count as the estimate. Prefix sums make each query logarithmic. */
export class RowHeights {
  #heights: Float64Array;
  #sums: Float64Array;
  #validTo = 0;

  constructor(
    readonly count: number,
    readonly estimate: number,
  ) {
    this.#heights = new Float64Array(count).fill(estimate);
    this.#sums = new Float64Array(count + 1);
  }

  /** Records a measured height; true when it differs. */
  set(index: number, height: number): boolean {
    if (index < 0 || index >= this.count || this.#heights[index] === height) return false;
    this.#heights[index] = height;
    this.#validTo = Math.min(this.#validTo, index);
    return true;
  }

  /** Keeps what was measured when rows are added or removed at the end. */
  resized(count: number): RowHeights {
    const next = new RowHeights(count, this.estimate);
    next.#heights.set(this.#heights.subarray(0, Math.min(count, this.count)));
    return next;
  }

  /** The top of a row; of `count` itself it is the whole height. */
  top(index: number): number {
    for (let row = this.#validTo; row < index; row += 1) {
      this.#sums[row + 1] = (this.#sums[row] ?? 0) + (this.#heights[row] ?? 0);
    }
    this.#validTo = Math.max(this.#validTo, index);
    return this.#sums[index] ?? 0;
  }

  get total(): number {
    return this.top(this.count);
  }

  /** The row that covers a position, clamped to the rows there are. */
  at(position: number): number {
    let low = 0;
    let high = this.count - 1;
    this.top(this.count);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.top(middle) <= position) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  /** The rows that cover the viewport, with `overscan` more on each side. */
  range(scrollTop: number, viewport: number, overscan: number): Range {
    if (this.count === 0) return { start: 0, end: 0, offset: 0, total: 0 };
    const start = Math.max(0, this.at(scrollTop) - overscan);
    const end = Math.min(this.count, this.at(scrollTop + viewport) + 1 + overscan);
    return { start, end, offset: this.top(start), total: this.total };
  }
}
