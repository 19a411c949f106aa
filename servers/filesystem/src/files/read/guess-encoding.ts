import { TextDecoder } from "node:util";
import type { Match } from "chardet";
import type { Encoding } from "./text-encoding.ts";

/** The WHATWG name of a supported encoding; undefined for stateful and unknown ones. */
export function standardName(label: string): Encoding | undefined {
  try {
    const { encoding } = new TextDecoder(label);
    return /^(?:iso-2022|replacement|x-user)/.test(encoding) ? undefined : encoding;
  } catch {
    return undefined;
  }
}

/** Letter statistics hardly distinguish Latin alphabets, so Western European is preferred. */
const LATIN = /^(?:iso-8859-(?:1|2|9|15)|windows-125[0247])$/;
const MULTIBYTE = /^(?:gb18030|gbk|big5|shift_jis|euc-jp|euc-kr)$/;

/**
 * Statistics need a few dozen characters, but pairs of bytes are recognized in shorter texts: in Western ones, a letter
 * beyond ASCII rarely has a second one next to it.
 */
const PAIRS: readonly { encoding: Encoding; pair: RegExp; typical: RegExp }[] = [
  // The common characters of GB 2312, with its punctuation and full-width forms.
  { encoding: "gbk", pair: /[\xa1\xa3\xb0-\xd7][\xa1-\xfe]/g, typical: /^[\xb0-\xd7]/ },
  // Half-width katakana are single bytes; kana are in nearly every Japanese text.
  {
    encoding: "shift_jis",
    pair: /[\x81-\x9f\xe0-\xea][\x40-\x7e\x80-\xfc]|[\xa1-\xdf]/g,
    typical: /^(?:\x82[\x9f-\xf1]|\x83[\x40-\x96])/,
  },
];
const MIN_PAIRS = 2;

/** The encoding in which all bytes beyond ASCII are pairs that are common in it. */
function pairedEncoding(sample: Buffer): Encoding | undefined {
  const text = sample.toString("latin1");
  const isPaired = ({ pair, typical }: (typeof PAIRS)[number]) =>
    !/[\x80-\xff]/.test(text.replace(pair, "")) &&
    (text.match(pair) ?? []).filter((one) => typical.test(one)).length >= MIN_PAIRS;
  return PAIRS.find(isPaired)?.encoding;
}

/**
 * Chooses the encoding of text that is not UTF-8 or UTF-16; `weak` if it could equally be in another one.
 *
 * @param matches of `sample`, the most probable first.
 */
export function guessLegacy(
  sample: Buffer,
  matches: readonly Match[],
): { encoding: Encoding; weak: boolean } {
  let western = 0;
  for (const { name, confidence } of matches) {
    const encoding = standardName(name);
    if (encoding === undefined || encoding.startsWith("utf-")) continue;
    if (MULTIBYTE.test(encoding) && confidence >= 60) return { encoding, weak: false };
    if (LATIN.test(encoding)) western = Math.max(western, confidence);
    else if (!MULTIBYTE.test(encoding) && confidence >= 25 && confidence > western)
      return { encoding, weak: confidence < 50 };
  }
  const paired = pairedEncoding(sample);
  if (paired !== undefined) return { encoding: paired, weak: true };
  return { encoding: "windows-1252", weak: western < 40 };
}
