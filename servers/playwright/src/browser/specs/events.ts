import * as z from "zod";

const place = { id: z.string(), title: z.string(), file: z.string(), line: z.number(), project: z.string() };

/** The reporter's events, one JSON object per line. */
export const specEvent = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("tests"), tests: z.array(z.object(place)) }),
  z.object({ kind: z.literal("begin"), total: z.number() }),
  z.object({
    kind: z.literal("test"),
    ...place,
    status: z.string(),
    outcome: z.enum(["skipped", "expected", "unexpected", "flaky"]),
    last: z.boolean(),
    duration: z.number(),
    errors: z.array(z.string()),
    attachments: z.array(z.object({ name: z.string(), path: z.string(), contentType: z.string() })),
  }),
  z.object({ kind: z.literal("error"), message: z.string() }),
  z.object({ kind: z.literal("end"), status: z.string() }),
]);
export type SpecEvent = z.output<typeof specEvent>;

/** The event in a line; undefined for any other line. */
export function eventOf(line: string): SpecEvent | undefined {
  try {
    return specEvent.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
