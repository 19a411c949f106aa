import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { namesAServer, parseConninfo } from "./conninfo.ts";
import { targetOf } from "./target.ts";

let home = "";
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "refmcp-home-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const of = (text: string | undefined, env: Record<string, string> = {}) => {
  const target = targetOf(text, { HOME: home, ...env });
  const addresses = target.addresses.map(({ host, port, password }) => ({
    host,
    port,
    password: password().password,
  }));
  return { user: target.user, database: target.database, addresses, target };
};

describe("targetOf", () => {
  it.each([
    ["postgres://me:pw@db.example:6000/shop", "me", "shop", "db.example", 6000, "pw"],
    ["postgres://m%40e:p%2Fw%3A%40@h/my%20db", "m@e", "my db", "h", 5432, "p/w:@"],
    ["postgres://[::1]:6000/x?user=u&password=p", "u", "x", "::1", 6000, "p"],
    ["postgres://u@%2Fvar%2Frun/x", "u", "x", "/var/run", 5432, undefined],
    ["host=h port=6000 user=u password='p \\'w' dbname=d", "u", "d", "h", 6000, "p 'w"],
    ["  user=a\\ b host=h dbname='' password=p\\\\q", "a b", "a b", "h", 5432, "p\\q"],
    // Strings that other programs accept: unencoded passwords.
    ["postgres://u:p#?[]&=+w@h/d#x", "u", "d#x", "h", 5432, "p#?[]&=+w"],
  ])("reads %s", (text, user, database, host, port, password) => {
    expect(of(text)).toMatchObject({ user, database, addresses: [{ host, port, password }] });
  });

  it("accepts several hosts in order, each with its port", () => {
    for (const [text, ports] of [
      ["postgres://u@a:1,b:2/d", [1, 2]],
      ["host=a,b port=7 user=u", [7, 7]],
    ] as const)
      expect(of(text).addresses.map(({ host, port }) => [host, port])).toEqual([
        ["a", ports[0]],
        ["b", ports[1]],
      ]);
  });

  // libpq 18's result for each, from its own URI tests (src/interfaces/libpq/t/001_uri.pl).
  it.each([
    ["postgres://:12345/", { port: "12345" }],
    ["postgresql://?hostaddr=127.0.0.1", { hostaddr: "127.0.0.1" }],
    [
      "postgres://u@:1/d?host=/socket/dir",
      { user: "u", host: "/socket/dir", port: "1", dbname: "d" },
    ],
    ["postgresql://%68/d?u%73er=u", { host: "h", dbname: "d", user: "u" }],
    ["postgresql://[200z:db8::1234]/", { host: "200z:db8::1234" }],
    ["postgresql://a,[::1]:2/", { host: "a,::1", port: ",2" }],
  ])("reads %s as libpq does", (text, keywords) => {
    expect(Object.fromEntries(parseConninfo(text))).toEqual(keywords);
  });

  it.each([
    ...["postgresql://h?uzer=", "postgres://[::1"],
    ...["postgresql://h?zzz", "postgres://h?dbname=%XXd", "postgresql://a%00b"],
  ])("refuses %s as libpq does", (text) => {
    expect(() => parseConninfo(text)).toThrow(expect.objectContaining({ kind: "invalid" }));
  });

  it("uses the environment for missing parameters, and prefers the text", () => {
    const env = { PGHOST: "eh", PGPORT: "7000", PGUSER: "eu", PGPASSWORD: "ep", PGDATABASE: "ed" };
    expect(of(undefined, env)).toMatchObject({
      user: "eu",
      database: "ed",
      addresses: [{ host: "eh", port: 7000, password: "ep" }],
    });
    const named = { user: "u", database: "d", addresses: [{ host: "h", port: 7000 }] };
    expect(of("postgres://u@h/d", env)).toMatchObject(named);
    expect([namesAServer(env), namesAServer({ PGUSER: "me" })]).toEqual([true, false]);
    expect(of("host=h").user).toBe(userInfo().username);
  });

  it("finds the password in the first matching line of ~/.pgpass, unless others can read the file", async () => {
    const file = join(home, ".pgpass");
    const lines =
      "# comment\nother:*:*:*:no\nh:5432:d:u:with\\:colon:not this\n*:*:e:*:a\\\\\\b\\\n*:*:*:*:any\n";
    await writeFile(file, lines, { mode: 0o600 });
    for (const [text, password] of [
      ["postgres://u@h/d", "with:colon"],
      ["postgres://u@h/e", "a\\b\\"],
      ["postgres://u@h/f", "any"],
      ["postgres://u@h/d?hostaddr=127.0.0.1", "with:colon"],
      ["postgres://u:own@h/d", "own"],
    ] as const)
      expect(of(text).addresses[0]?.password).toBe(password);
    const elsewhere = join(home, "elsewhere");
    await writeFile(elsewhere, "*:*:*:*:there\n", { mode: 0o600 });
    expect(of("postgres://u@h/d", { PGPASSFILE: elsewhere }).addresses[0]?.password).toBe("there");
    const problemOf = (env: Record<string, string>) =>
      of("postgres://u@h/d", env).target.addresses[0]?.password().problem;
    expect(problemOf({ PGPASSFILE: home })).toMatch(/is not used: it is not a regular file/);
    expect(problemOf({ PGPASSFILE: join(home, "none") })).toMatch(/is not used: it does not exist/);
    if (process.platform !== "win32") {
      await chmod(file, 0o644);
      const [address] = of("postgres://u@h/d").target.addresses;
      expect(address?.password()).toEqual({
        problem: `The password file ${file} is not used: other users can read it. Run chmod 600 on it.`,
      });
    }
  });

  it.each([
    ["service=shop dbname=d", {}, /Service files are not read/],
    [undefined, { PGSERVICE: "shop" }, /Service files are not read/],
    ["jdbc:postgresql://h:1/d?user=u&password=p", {}, /can't be read/],
  ] as const)(
    "refuses %s, as services and other programs' addresses are not read",
    (text, env, message) => {
      expect(() => of(text, env)).toThrow(message);
    },
  );

  it.each([
    "schema=public",
    "pgbouncer=true&connection_limit=1&schema=public&statement_cache_size=0&sslaccept=strict",
    "options=project%3Dneon&sslmode=require",
    "socket_timeout=10&max_conns=3&keepalives=1&gssencmode=disable&client_encoding=utf8&sslsni=1",
  ])("connects with %s, as other programs write it", (query) => {
    expect(of(`postgres://u:pw@h/d?${query}`)).toMatchObject({
      user: "u",
      addresses: [{ host: "h", password: "pw" }],
    });
  });

  it.each([
    ["postgres://u:se/cret@h/d", /can't be read/],
    ["postgres://u:secret@h/d?ssl=maybe", /sslmode "maybe" is unknown/],
    ["postgres://u:s%zzecret@h/d", /percent-encoded/],
    ["postgres://u:secret@h/d?sslmod=require", /"sslmod" is unknown/],
    ["postgres://u:secret@a:1,b:2,c/d?port=1,2", /3 host names, 3 addresses and 2 ports/],
    ["postgres://u:secret@h/d?target_session_attrs=leader", /target_session_attrs is unknown/],
    [
      "postgres://u:secret@h/d?sslmode=require&sslrootcert=system",
      /too weak with sslrootcert=system/,
    ],
    [
      "postgres://u:secret@h/d?sslmode=verify-full&sslrootcert=/nowhere.crt",
      /nowhere\.crt does not exist/,
    ],
  ])("refuses %s without showing the password", (text, message) => {
    try {
      expect(of(text)).toBeUndefined();
    } catch (error) {
      expect(String(error)).toMatch(message);
      expect(`${error} ${JSON.stringify(error)}`).not.toMatch(/secret|cret@/);
    }
  });
});
