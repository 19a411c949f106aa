/** The sections of a THIRD_PARTY_NOTICES by their titles, for example `zod 4.6.7`. */
export function sectionsOf(notices: string): Map<string, string> {
  const [, ...sections] = notices.split(/^={80}\n/m);
  return new Map(
    sections.map((section) => {
      const end = section.indexOf("\n");
      return [section.slice(0, end), section.slice(end + 1)];
    }),
  );
}
