/** Hosts scale down or refuse pictures larger than about this many pixels each way. */
const MAX_PIXELS = 1_568;

/** A PNG for a model, scaled down by a whole factor if it is too large. */
export async function fitPicture(
  png: Buffer,
): Promise<{ png: Buffer; scaled: number; width: number; height: number }> {
  const { PNG } = (await import("pngjs")).default;
  const picture = PNG.sync.read(png);
  const { width, height } = picture;
  const factor = Math.ceil(Math.max(width, height) / MAX_PIXELS);
  if (factor <= 1) return { png, scaled: 1, width, height };
  const small = new PNG({
    width: Math.max(1, Math.floor(width / factor)),
    height: Math.max(1, Math.floor(height / factor)),
  });
  for (let y = 0; y < small.height; y++) {
    for (let x = 0; x < small.width; x++) {
      const to = (y * small.width + x) * 4;
      for (let channel = 0; channel < 4; channel++) {
        let sum = 0;
        for (let dy = 0; dy < factor; dy++)
          for (let dx = 0; dx < factor; dx++)
            sum += picture.data[((y * factor + dy) * width + x * factor + dx) * 4 + channel] ?? 0;
        small.data[to + channel] = Math.round(sum / (factor * factor));
      }
    }
  }
  return { png: PNG.sync.write(small), scaled: factor, width, height };
}
