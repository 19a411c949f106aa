import { oneLine } from "@refmcp/boundary/answer";
import type { Files } from "../files.ts";
import { withFile } from "../open-path.ts";
import { binary, readAt, tooLarge } from "../read/bytes.ts";
import { textOf } from "../read/text-encoding.ts";
import { type DiffAnswer, diffTexts, lineCounts } from "./diff.ts";
import { factsLine, hiddenFacts, MAX_EDIT_BYTES, MAX_INLINE_BYTES } from "./edit.ts";
import { withLf } from "./edit-text.ts";

interface CompareRequest {
  readonly from: string;
  readonly to: string;
  readonly maxChars: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The unified diff from one text file or document to another, in any encodings and line endings.
 *
 * @throws ToolError `invalid` for a binary file that is not a document, `too_large` beyond 32 MiB
 */
export async function compareFiles(
  files: Files,
  { from, to, maxChars, signal }: CompareRequest,
): Promise<DiffAnswer> {
  const [old, now] = [await readText(files, from, signal), await readText(files, to, signal)];
  const work = {
    oldName: old.path,
    newName: now.path,
    before: withLf(old.text),
    after: withLf(now.text),
    maxChars,
  };
  const isLarge = work.before.length + work.after.length > MAX_INLINE_BYTES;
  const diff = isLarge ? await files.threads.run("diff", work, signal) : diffTexts(work);
  // The form of a document is not that of its text.
  const forms = [
    ["encoding", "encoding"],
    ["bom", "byte order mark"],
    ["eol", "line endings"],
  ] as const;
  const differing = forms.flatMap(([fact, what]) =>
    old.form && now.form && old.form[fact] !== now.form[fact] ? [what] : [],
  );
  const same = `${oneLine(old.path)} and ${oneLine(now.path)} have the same lines.`;
  const facts = [
    work.before === work.after ? same : `${lineCounts(diff)}.`,
    ...hiddenFacts(diff.hiddenHunks),
    ...(differing.length === 0 ? [] : [`They differ in ${differing.join(", ")}.`]),
  ];
  return { diff: diff.text, rest: factsLine(...facts), remark: facts.join(" ") };
}

async function readText({ guard, documents }: Files, pathText: string, signal?: AbortSignal) {
  return withFile(guard, pathText, async (file) => {
    const { path, stat } = file;
    const document = await documents.textOf(file, signal);
    if (document !== undefined) return { path, text: document.text, form: undefined };
    const hint = "Read the relevant parts with read_text_file.";
    if (stat.size > MAX_EDIT_BYTES)
      throw tooLarge(path, [stat.size, MAX_EDIT_BYTES], "are compared", hint);
    const content = textOf(await readAt(file, 0, stat.size));
    if (content !== undefined) return { path, ...content };
    throw binary(
      path,
      "Only text and documents are compared; get_file_info has the sizes and hashes of other files.",
    );
  });
}
