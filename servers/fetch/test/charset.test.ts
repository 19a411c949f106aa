import { describe, expect, it } from "vitest";
import { fetched, run, site, texts, webOf } from "./lab.ts";

/** The same few sentences about a mill, each of 200 characters or more. */
const TEXTS = {
  Russian:
    "Мельница стоит на берегу реки уже более двухсот лет. Каждое утро мельник открывает тяжёлую дверь, проверяет колесо и пускает воду. Зерно привозят из соседних деревень, и к полудню мука готова. Зимой река замерзает, и колесо стоит до весны, а мельник чинит жернова и точит инструменты.",
  Japanese:
    "水車小屋は二百年以上前から川のほとりに立っています。毎朝、粉屋は重い扉を開け、車輪を点検し、水を流します。穀物は近くの村から運ばれ、昼までに小麦粉ができあがります。冬には川が凍り、春まで車輪は止まったままです。その間、粉屋は石臼を修理し、道具を研ぎます。カタカナのテキストも少しあります。訪問者は入り口で切符を買い、案内人と一緒に建物の中を見学することができます。写真撮影は自由ですが、機械には触れないでください。日曜日は休みです。",
  Chinese:
    "磨坊坐落在河边已经有两百多年了。每天早晨，磨坊主打开沉重的大门，检查水轮，然后放水。粮食从附近的村庄运来，到中午面粉就准备好了。冬天河水结冰，水轮一直停到春天，磨坊主则修理磨石，磨快工具。参观者可以在入口处买票，跟随导游参观建筑内部。可以自由拍照，但请不要触摸机器。星期天休息。我们建议您提前预订，因为夏天的游客很多。孩子们可以免费参观，学校的团体也有优惠。如果您需要更多信息，请打电话或者发送电子邮件给我们的办公室，我们会尽快回答您的问题。",
  German:
    "Die Mühle steht seit über zweihundert Jahren am Fluß. Jeden Morgen öffnet der Müller die schwere Tür, prüft das Rad und läßt das Wasser fließen. Das Korn kommt aus den Dörfern der Umgebung, und gegen Mittag ist das Mehl fertig. Im Winter gefriert der Fluß, und das Rad steht bis zum Frühling still, während der Müller die Mühlsteine schärft.",
  Greek:
    "Ο μύλος βρίσκεται στην όχθη του ποταμού εδώ και περισσότερα από διακόσια χρόνια. Κάθε πρωί ο μυλωνάς ανοίγει τη βαριά πόρτα, ελέγχει τη ρόδα και αφήνει το νερό να τρέξει. Το σιτάρι έρχεται από τα γύρω χωριά και μέχρι το μεσημέρι το αλεύρι είναι έτοιμο.",
} as const;

/** Encodes text by inverting TextDecoder: of all bytes, and of all pairs that begin outside ASCII. */
function encoded(text: string, label: string): Buffer {
  const decoder = new TextDecoder(label);
  const codes = new Map<string, readonly number[]>();
  const add = (...bytes: number[]): void => {
    const sign = decoder.decode(Uint8Array.from(bytes));
    if ([...sign].length === 1 && sign !== "\ufffd" && !codes.has(sign)) codes.set(sign, bytes);
  };
  for (let byte = 0; byte < 256; byte++) add(byte);
  if (/jis|euc|gb|big5/.test(label))
    for (let lead = 0x81; lead < 0xff; lead++)
      for (let trail = 0x40; trail < 0xff; trail++) add(lead, trail);
  return Buffer.from(
    [...text].flatMap((sign) => {
      const bytes = codes.get(sign);
      if (bytes === undefined) throw new Error(`${label} has no ${sign}`);
      return bytes;
    }),
  );
}

const PAGE =
  "<html><head><title>Mill</title></head><body><nav><a href='/'>Home</a></nav><main><p>TEXT</p></main><script>document.write('x')</script></body></html>";

async function answersFor(body: Buffer, type = "text/html") {
  const lab = await site({ "/": { headers: { "content-type": type }, body } });
  const web = await webOf([lab]);
  const { text } = await fetched(web, { url: lab.origin });
  const [facts = ""] = texts(await run(web, "fetch", { url: lab.origin, format: "metadata" }));
  return { text, facts: JSON.parse(facts) };
}

describe("an undeclared encoding is guessed, and the answer says so", () => {
  it.each<[keyof typeof TEXTS, string]>([
    ["Russian", "windows-1251"],
    ["Japanese", "shift_jis"],
    ["Chinese", "gb18030"],
    ["German", "windows-1252"],
    ["Greek", "iso-8859-7"],
  ])("%s in %s", async (language, label) => {
    const original = TEXTS[language];
    const { text, facts } = await answersFor(encoded(PAGE.replace("TEXT", original), label));
    expect(text).toContain(original);
    expect(text).toContain(`charset guessed: ${label}`);
    expect(facts).toMatchObject({ charset: label, charset_guessed: true });
    const plain = await answersFor(encoded(original, label), "text/plain");
    expect(plain.text).toContain(original);
  });

  it("declared encodings and UTF-8 are not guessed", async () => {
    const declared = await answersFor(
      encoded(PAGE.replace("TEXT", TEXTS.Russian), "windows-1251"),
      "text/html; charset=windows-1251",
    );
    const utf8 = await answersFor(Buffer.from(PAGE.replace("TEXT", TEXTS.Russian)));
    for (const { text, facts } of [declared, utf8]) {
      expect(text).toContain(TEXTS.Russian);
      expect(text).not.toContain("guessed");
      expect(facts).not.toHaveProperty("charset_guessed");
    }
  });
});
