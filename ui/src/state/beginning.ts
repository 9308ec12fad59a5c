// The first moments of a session. What is read before the event stream is open may have changed until it is, so it
// would have to be read twice. Reads therefore wait for the stream, which is there in a few milliseconds, or not long
// at all.

const PATIENCE_MS = 400;

export class Beginning {
  #waiting: Promise<void> | null = null;
  #over: () => void = () => undefined;

  /** What reads wait for. */
  get waiting(): Promise<void> | null {
    return this.#waiting;
  }

  begin(): void {
    this.end();
    this.#waiting = new Promise((over) => (this.#over = over));
    setTimeout(() => this.end(), PATIENCE_MS);
  }

  /** Lets reads go; whether they waited until now, so that nothing was read before. */
  end(): boolean {
    const waited = this.#waiting !== null;
    this.#waiting = null;
    this.#over();
    return waited;
  }
}
