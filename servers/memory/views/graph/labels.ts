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
  readonly #height: number;

  /** @param width of the drawing, which no label leaves */
  constructor(width: number, height: number) {
    this.#width = width;
    this.#height = height;
  }

  /** Takes the space of a circle. */
  block({ x, y }: { x: number; y: number }, radius: number): void {
    this.#taken.push({ left: x - radius, right: x + radius, top: y - radius, bottom: y + radius });
  }

  /**
   * Takes the space for a text if it is free.
   *
   * @param places the middle and the base line of the text, the best first
   * @param isForced whether it takes the first place if none is free
   * @returns the place, moved into the drawing; undefined if none is free
   */
  place(
    { width, size }: { width: number; size: number },
    places: readonly { x: number; y: number }[],
    isForced = false,
  ): { x: number; y: number } | undefined {
    const half = width / 2 + 2;
    const inside = places.map(({ x, y }) => ({
      x: Math.min(Math.max(x, half), this.#width - half),
      y: Math.min(Math.max(y, size), this.#height - size * 0.3),
    }));
    const boxOf = ({ x, y }: { x: number; y: number }) => ({
      left: x - half,
      right: x + half,
      top: y - size,
      bottom: y + size * 0.3,
    });
    const isFree = (box: Box) =>
      this.#taken.every(
        (other) =>
          box.left >= other.right ||
          other.left >= box.right ||
          box.top >= other.bottom ||
          other.top >= box.bottom,
      );
    const found =
      inside.find((place) => isFree(boxOf(place))) ?? (isForced ? inside[0] : undefined);
    if (found !== undefined) this.#taken.push(boxOf(found));
    return found;
  }
}

const measuring = document.createElement("canvas").getContext("2d");
const widths = new Map<string, number>();

/** The width of a text in the page's font. */
export function widthOf(text: string, size: number, isBold = false): number {
  const font = `${isBold ? 700 : 400} ${size}px`;
  const key = `${font} ${text}`;
  const known = widths.get(key);
  if (known !== undefined || measuring === null) return known ?? text.length * size * 0.6;
  measuring.font = `${font} ${getComputedStyle(document.body).fontFamily}`;
  const { width } = measuring.measureText(text);
  widths.set(key, width);
  return width;
}

/** Forgets the widths, once the page's font is loaded. */
export const forgetWidths = () => widths.clear();
