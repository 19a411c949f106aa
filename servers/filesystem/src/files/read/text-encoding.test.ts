import { describe, expect, it } from "vitest";
import { decode, encode, formOfText, textOf } from "./text-encoding.ts";

function formOf(bytes: Buffer) {
  const form = formOfText(bytes, { whole: true });
  if (form === undefined) throw new Error("taken for binary");
  return form;
}

describe("the form of a text", () => {
  it("treats mostly valid UTF-8 with a stray byte as damaged UTF-8", () => {
    const bytes = Buffer.concat([
      Buffer.from("Grüße, Köln "),
      Buffer.from([0xff]),
      Buffer.from(" für alle\n"),
    ]);
    expect(formOf(bytes)).toMatchObject({ encoding: "utf-8", damaged: true });
  });

  it("finds binary content", () => {
    const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
    const numbers = Buffer.from(
      Uint16Array.from({ length: 2000 }, (_, index) => (index % 250) + 1).buffer,
    );
    const utf32 = Buffer.from("fffe00004100000042000000", "hex");
    const gzip = Buffer.from("1f8b08080102030405060708ff9c8d8e8f90", "hex");
    for (const bytes of [
      png,
      numbers,
      utf32,
      gzip,
      Buffer.from("%PDF-1.7\nplain so far"),
      Buffer.alloc(64),
    ]) {
      expect(formOfText(bytes, { whole: true })).toBeUndefined();
    }
    expect(formOfText(png, { whole: true, encoding: "windows-1252" })).toMatchObject({
      encoding: "windows-1252",
    });
  });

  it("tolerates a character cut off at the end of a sample", () => {
    const bytes = Buffer.from("ein großes Ö");
    expect(formOfText(bytes.subarray(0, -1), { whole: false })).toMatchObject({
      encoding: "utf-8",
      damaged: false,
    });
    expect(formOfText(bytes.subarray(0, -1), { whole: true })).toMatchObject({
      damaged: false,
      encoding: "windows-1252",
    });
  });
});

describe("guesses", () => {
  it("are right for most short texts", async () => {
    const texts: [encoding: string, text: string][] = [
      ["windows-1252", "Name;Straße\nMüller;Hauptstraße 5\nGrößer;Äußere Str. 3\n"],
      ["windows-1252", "Le café est fermé à midi. Où êtes-vous allé hier ? Ça va très bien.\n"],
      ["windows-1252", "¿Dónde está el niño? Mañana será otro día, señor Núñez.\n"],
      ["windows-1252", "Räksmörgås på ön i Åmål.\n"],
      ["windows-1252", "Não há informação disponível para a região.\n"],
      ["windows-1252", "He said “hello” — it’s fine.\n"],
      ["windows-1252", "café\n"],
      ["windows-1250", "Zażółć gęślą jaźń. Łódź jest piękna, ale Kraków też.\n"],
      ["iso-8859-2", "Imię;Miasto\nŁukasz;Łódź\nGrażyna;Gdańsk\nStanisław;Częstochowa\n"],
      ["windows-1250", "Příliš žluťoučký kůň úpěl ďábelské ódy.\n"],
      ["windows-1250", "Árvíztűrő tükörfúrógép. Köszönöm szépen, jó estét kívánok.\n"],
      ["windows-1254", "Şu köşe yaz köşesi, şu köşe kış köşesi. Işığı söndürdün mü?\n"],
      ["windows-1251", "Привет, как дела? Сегодня хорошая погода.\n"],
      ["windows-1251", "Имя;Город\nИван;Москва\nАнна;Казань\n"],
      ["koi8-r", "Привет, как дела? Сегодня хорошая погода.\n"],
      ["ibm866", "Привет, как дела? Сегодня хорошая погода.\n"],
      ["windows-1253", "Καλημέρα, τι κάνετε; Η Αθήνα είναι όμορφη πόλη.\n"],
      ["windows-1255", "שלום עולם, מה שלומך היום? אני בסדר גמור.\n"],
      ["windows-1256", "مرحبا بالعالم، كيف حالك اليوم؟\n"],
      ["gbk", "你好，世界。今天天气很好，我们去公园吧。\n"],
      ["big5", "你好，世界。今天天氣很好，我們去公園吧。\n"],
      ["shift_jis", "こんにちは世界。今日はいい天気ですね。\n"],
      ["euc-jp", "こんにちは世界。今日はいい天気ですね。\n"],
      ["euc-kr", "안녕하세요 세계. 오늘 날씨가 좋네요.\n"],
      ["macintosh", "Müller wohnt in der Hauptstraße in Köln.\n"],
    ];
    let right = 0;
    for (const [encoding, text] of texts) {
      const result = await textOf(encode(text, { encoding, bom: false, damaged: false }));
      if (result?.text === text) right += 1;
    }
    expect(right).toBeGreaterThanOrEqual(17);
  });
});

describe("decode and encode", () => {
  it("keep stray bytes, surrogates in CESU-8 and overlong forms of damaged UTF-8", () => {
    const stray = Buffer.from("c0afeda080f5ff80", "hex");
    const bytes = Buffer.concat([Buffer.from("Ä😀ö ü ß é è à\n"), stray, Buffer.from("😀\n")]);
    const form = { encoding: "utf-8", bom: false, damaged: true } as const;
    const text = decode(bytes, form);
    expect(text.startsWith("Ä😀ö")).toBe(true);
    expect(text.endsWith("😀\n")).toBe(true);
    expect(encode(text, form).equals(bytes)).toBe(true);
  });

  it("report which character an encoding lacks", () => {
    const form = { encoding: "windows-1252", bom: false, damaged: false } as const;
    expect(encode("€", form)).toEqual(Buffer.from([0x80]));
    expect(() => encode("日", form)).toThrow("U+65E5");
    expect(() => encode("😀", form)).toThrow("U+1F600");
  });
});
