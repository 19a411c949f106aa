// Which labels of a drawing can be read: those that cover no other, and no entity's circle.

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The space that circles and labels take. Labels are placed in the order of their importance. */
export class Labels {
  readonly #taken: Box[] = [];
  readonly #width: number;

  /** @param width of the drawing, which no label leaves */
  constructor(width: number) {
    this.#width = width;
  }

  /** Takes the space of a circle. */
  block({ x, y }: { x: number; y: number }, radius: number): void {
    this.#taken.push({ left: x - radius, right: x + radius, top: y - radius, bottom: y + radius });
  }

  /**
   * Takes the space for a text if it is free and inside the drawing.
   *
   * @param x the middle of the text
   * @param y its base line
   * @param size of the font
   */
  place(text: string, x: number, y: number, size: number): boolean {
    // About the mean width of a character; wide scripts take twice as much.
    const half = ([...text].length + (text.match(/[\u1100-\uffff]/g)?.length ?? 0)) * size * 0.28;
    const box = { left: x - half, right: x + half, top: y - size, bottom: y + size * 0.25 };
    const covers = (other: Box) =>
      box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;
    if (box.left < 0 || box.right > this.#width || this.#taken.some(covers)) return false;
    this.#taken.push(box);
    return true;
  }
}
