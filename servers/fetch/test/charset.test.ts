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
  Taiwanese:
    "磨坊坐落在河邊已經有兩百多年了。每天早晨，磨坊主打開沉重的大門，檢查水輪，然後放水。糧食從附近的村莊運來，到中午麵粉就準備好了。冬天河水結冰，水輪一直停到春天，磨坊主則修理磨石，磨快工具。參觀者可以在入口處買票，跟隨導遊參觀建築內部。可以自由拍照，但請不要觸摸機器。星期天休息。我們建議您提前預訂，因為夏天的遊客很多。孩子們可以免費參觀，學校的團體也有優惠。如果您需要更多資訊，請打電話或者發送電子郵件給我們的辦公室，我們會儘快回答您的問題。",
  Korean:
    "물레방앗간은 이백 년 넘게 강가에 서 있습니다. 매일 아침 방앗간 주인은 무거운 문을 열고 바퀴를 점검한 뒤 물을 흘려보냅니다. 곡식은 가까운 마을에서 실려 오고 정오가 되면 밀가루가 준비됩니다. 겨울에는 강이 얼어 봄까지 바퀴가 멈추고, 주인은 맷돌을 고치고 연장을 갑니다. 방문객은 입구에서 표를 사고 안내원과 함께 건물 안을 둘러볼 수 있습니다. 사진은 자유롭게 찍을 수 있지만 기계에는 손대지 마십시오. 일요일은 쉽니다.",
  German:
    "Die Mühle steht seit über zweihundert Jahren am Fluß. Jeden Morgen öffnet der Müller die schwere Tür, prüft das Rad und läßt das Wasser fließen. Das Korn kommt aus den Dörfern der Umgebung, und gegen Mittag ist das Mehl fertig. Im Winter gefriert der Fluß, und das Rad steht bis zum Frühling still, während der Müller die Mühlsteine schärft.",
  French:
    "Le moulin se dresse au bord de la rivière depuis plus de deux cents ans. Chaque matin, le meunier ouvre la lourde porte, vérifie la roue et laisse couler l'eau. Le blé est apporté des villages voisins et, à midi, la farine est prête. L'été, les visiteurs achètent un billet à l'entrée - très bon marché - et découvrent le mécanisme.",
  Polish:
    "Młyn stoi nad rzeką od ponad dwustu lat. Każdego ranka młynarz otwiera ciężkie drzwi, sprawdza koło i puszcza wodę. Zboże przywożą z sąsiednich wsi, a w południe mąka jest gotowa. Zimą rzeka zamarza i koło stoi aż do wiosny, a młynarz naprawia żarna i ostrzy narzędzia. Zwiedzający mogą kupić bilet przy wejściu.",
  Greek:
    "Ο μύλος βρίσκεται στην όχθη του ποταμού εδώ και περισσότερα από διακόσια χρόνια. Κάθε πρωί ο μυλωνάς ανοίγει τη βαριά πόρτα, ελέγχει τη ρόδα και αφήνει το νερό να τρέξει. Το σιτάρι έρχεται από τα γύρω χωριά και μέχρι το μεσημέρι το αλεύρι είναι έτοιμο.",
  Turkish:
    "Değirmen iki yüz yılı aşkın süredir nehrin kıyısında duruyor. Değirmenci her sabah ağır kapıyı açar, çarkı kontrol eder ve suyu bırakır. Tahıl yakın köylerden gelir ve öğlene kadar un hazır olur. Kışın nehir donar, çark ilkbahara kadar durur. Ziyaretçiler girişte bilet alabilir.",
  Arabic:
    "تقع الطاحونة على ضفة النهر منذ أكثر من مئتي عام. يفتح الطحان الباب الثقيل كل صباح ويفحص العجلة ثم يطلق الماء. يأتي القمح من القرى المجاورة ويكون الدقيق جاهزا عند الظهر. في الشتاء يتجمد النهر وتتوقف العجلة حتى الربيع ويصلح الطحان أحجار الرحى.",
} as const;

/** Encodes text by inverting TextDecoder: of all bytes, and of all pairs that begin outside ASCII. */
function encoded(text: string, label: string): Buffer {
  const decoder = new TextDecoder(label);
  const codes = new Map<string, readonly number[]>();
  const add = (...bytes: number[]): void => {
    const sign = decoder.decode(Uint8Array.from(bytes));
    if ([...sign].length === 1 && sign !== "\ufffd" && !codes.has(sign)) codes.set(sign, bytes);
  };
  for (let one = 0; one < 256; one++) add(one);
  if (/jis|euc|gb|big5/.test(label))
    for (let one = 0x81; one < 0xff; one++) for (let two = 0x40; two < 0xff; two++) add(one, two);
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
    ["Russian", "koi8-r"],
    ["Japanese", "shift_jis"],
    ["Japanese", "euc-jp"],
    ["Chinese", "gb18030"],
    ["Taiwanese", "big5"],
    ["Korean", "euc-kr"],
    ["German", "windows-1252"],
    ["French", "windows-1252"],
    ["Polish", "iso-8859-2"],
    ["Greek", "iso-8859-7"],
    ["Turkish", "windows-1254"],
    ["Arabic", "windows-1256"],
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
