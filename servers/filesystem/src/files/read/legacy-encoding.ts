import { TextDecoder } from "node:util";
import { analyse } from "chardet";
import type { Encoding } from "./text-encoding.ts";

export interface Guess {
  readonly encoding: Encoding;
  /** Whether the text could as well be in another encoding. */
  readonly weak: boolean;
}

/** Latin alphabets look alike to a statistic of letters, so Western European is taken before the others. */
const LATIN = /^(?:iso-8859-(?:1|2|9|15)|windows-125[0247])$/;
const MULTIBYTE = /^(?:gb18030|gbk|big5|shift_jis|euc-jp|euc-kr)$/;

/** The encoding of text that is not UTF-8 or UTF-16, by the frequencies of its letters. */
export function guessLegacy(sample: Uint8Array): Guess {
  let western = 0;
  for (const { name, confidence } of analyse(sample)) {
    const encoding = supported(name);
    if (encoding === undefined) continue;
    if (MULTIBYTE.test(encoding) && confidence >= 60) return { encoding, weak: false };
    if (LATIN.test(encoding)) western = Math.max(western, confidence);
    else if (!MULTIBYTE.test(encoding) && confidence >= 25) return { encoding, weak: confidence < 50 };
  }
  return { encoding: "windows-1252", weak: western < 40 };
}

/** The WHATWG name of an encoding that is read; undefined for UTF, stateful and unknown ones. */
function supported(name: string): Encoding | undefined {
  try {
    const { encoding } = new TextDecoder(name);
    return /^(?:utf-|iso-2022|replacement|x-user)/.test(encoding) ? undefined : encoding;
  } catch {
    return undefined;
  }
}
