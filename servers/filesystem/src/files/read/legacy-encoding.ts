import { analyse } from "chardet";
import { type Encoding, standardName } from "./text-encoding.ts";

export interface Guess {
  readonly encoding: Encoding;
  /** Whether the text could equally be in another encoding. */
  readonly weak: boolean;
}

/** Letter statistics hardly distinguish Latin alphabets, so Western European is preferred. */
const LATIN = /^(?:iso-8859-(?:1|2|9|15)|windows-125[0247])$/;
const MULTIBYTE = /^(?:gb18030|gbk|big5|shift_jis|euc-jp|euc-kr)$/;

/** Guesses the encoding of text that is not UTF-8 or UTF-16 from letter frequencies. */
export function guessLegacy(sample: Uint8Array): Guess {
  let western = 0;
  for (const { name, confidence } of analyse(sample)) {
    const encoding = standardName(name);
    if (encoding === undefined || encoding.startsWith("utf-")) continue;
    if (MULTIBYTE.test(encoding) && confidence >= 60) return { encoding, weak: false };
    if (LATIN.test(encoding)) western = Math.max(western, confidence);
    else if (!MULTIBYTE.test(encoding) && confidence >= 25) return { encoding, weak: confidence < 50 };
  }
  return { encoding: "windows-1252", weak: western < 40 };
}
