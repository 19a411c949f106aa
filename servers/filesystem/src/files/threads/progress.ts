/**
 * A busy thread's progress, in memory shared with the pool. `ticks` increases with each piece of work, and `file` is
 * the index of the current file. If `hurry` is set, the thread returns its results so far, so that other calls get
 * their turn.
 */
export class Progress {
  readonly shared: SharedArrayBuffer;
  readonly #numbers: Int32Array;

  constructor(shared = new SharedArrayBuffer(12)) {
    this.shared = shared;
    this.#numbers = new Int32Array(shared);
  }

  tick(file?: number): void {
    if (file !== undefined) Atomics.store(this.#numbers, 1, file);
    Atomics.add(this.#numbers, 0, 1);
  }

  get ticks(): number {
    return Atomics.load(this.#numbers, 0);
  }

  get file(): number {
    return Atomics.load(this.#numbers, 1);
  }

  get hurry(): boolean {
    return Atomics.load(this.#numbers, 2) === 1;
  }

  set hurry(hurry: boolean) {
    Atomics.store(this.#numbers, 2, hurry ? 1 : 0);
  }
}
