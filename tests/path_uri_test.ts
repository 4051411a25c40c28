import assert from "node:assert/strict";
import fc from "fast-check";
import { PathUri } from "../lib/path_uri.ts";
import { readCases } from "./support/cases.ts";

/** What the reference on Linux says of a URI. */
interface Case {
  readonly uri: string;
  /** It does not decode. */
  readonly refusal?: string;
  /** It decodes, but names nothing on Linux; this is how the refusal then spells it. */
  readonly foreign?: string;
  /** The real path, where there is one. */
  readonly canonical?: string;
}

Deno.test("PathUri.parse and toNative judge and spell URIs as the reference does", () => {
  for (const { uri, refusal, foreign, canonical } of readCases<Case>("path_uri_cases.jsonl", import.meta.url)) {
    if (refusal !== undefined) {
      assert.throws(
        () => PathUri.parse(uri, "linux"),
        { kind: "invalidParams", message: refusal },
        JSON.stringify(uri),
      );
      continue;
    }
    const parsed = PathUri.parse(uri, "linux");
    if (foreign !== undefined) {
      assert.equal(parsed.text, foreign, JSON.stringify(uri));
      const message = `'${foreign}' is invalid on 'linux'`;
      assert.throws(() => parsed.toNative("linux"), { kind: "invalidRequest", message }, JSON.stringify(uri));
      continue;
    }
    const native = new TextDecoder().decode(parsed.toNative("linux"));
    if (canonical === undefined) continue;
    assert.equal(PathUri.fromNative(native, "linux"), canonical, JSON.stringify(uri));
  }
});

/** Absolute paths without NUL and without the segments that URLs resolve. */
const nativePath = fc.array(
  fc.uint8Array({ minLength: 1, maxLength: 12 }).filter((segment) => {
    const name = String.fromCharCode(...segment);
    return !/[\0/]/.test(name) && name !== "." && name !== ".." && !/^[A-Za-z]:$/.test(name);
  }),
  { minLength: 1, maxLength: 5 },
).map((segments) => new Uint8Array(segments.flatMap((segment) => [0x2f, ...segment])));

Deno.test("every path comes back byte for byte, whether or not it is UTF-8", () => {
  fc.assert(
    fc.property(nativePath, (path) => {
      const uri = PathUri.fromNative(path, "linux");
      assert.match(uri, /^file:\/\/\/[\x21-\x7e]*$/);
      const parsed = PathUri.parse(uri, "linux");
      assert.deepEqual(parsed.toNative("linux"), path);
      assert.equal(parsed.text, uri);
    }),
    { numRuns: 500 },
  );
});

Deno.test("PathUri.parse spells plain URIs as the URL parser does", () => {
  const segment = fc.string({ unit: fc.constantFrom(..."aZ09._~!$&'()*+,;=@-:%|^[]"), maxLength: 4 });
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 4 }), (segments) => {
      const uri = `file:///${segments.join("/")}`;
      const { href } = new URL(uri);
      if (href.includes("%00")) {
        return void assert.throws(() => PathUri.parse(uri, "linux"), { message: `'${href}' is invalid on 'linux'` });
      }
      const spelled = href.replace(
        /^file:\/\/\/[a-z](?=(?::|%3a)(?:\/|$))/i,
        (start) => start.slice(0, -1) + start.slice(-1).toUpperCase(),
      );
      assert.equal(PathUri.parse(uri, "linux").text, spelled);
    }),
    { numRuns: 500 },
  );
});

Deno.test("a path of millions of names is a path", () => {
  const path = "/a".repeat(4_000_000);
  assert.equal(PathUri.parse(`file://${path}`).toNative().length, path.length);
});

Deno.test("fromNative encodes what the reference encodes and nothing else", () => {
  assert.equal(
    PathUri.fromNative('/a b"#%<>?`{}\\\n\x7fé', "linux"),
    "file:///a%20b%22%23%25%3C%3E%3F%60%7B%7D%5C%0A%7F%C3%A9",
  );
  const kept = "/!$&'()*+,-.0:;=@A[]^_a|~";
  assert.equal(PathUri.fromNative(kept, "linux"), `file://${kept}`);
  assert.equal(PathUri.fromNative(new Uint8Array([0x2f, 0xff]), "linux"), "file:///%FF");
  assert.equal(PathUri.fromNative("/", "linux"), "file:///");
  // Each by itself: a path in which nothing needs to be encoded is told by another way.
  for (const char of ' "#%<>?`{}\\\n\x7f') {
    const code = char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0");
    assert.equal(PathUri.fromNative(`/${char}41`, "linux"), `file:///%${code}41`);
  }
});

Deno.test("a drive letter becomes upper case where no host is named", () => {
  const shown = (uri: string) => PathUri.parse(uri, "linux").text;
  assert.equal(shown("file:///c%3A/x"), "file:///C%3A/x");
  assert.equal(shown("file://localhost/c:/x"), "file:///C:/x");
  assert.equal(shown("file://EXAMPLE.com/c%3A/x"), "file://example.com/c%3A/x");
});

Deno.test("invalid escapes and a plus sign stand for themselves", () => {
  const native = (uri: string) => new TextDecoder().decode(PathUri.parse(uri, "linux").toNative("linux"));
  assert.equal(native("file:///a%zz%4"), "/a%zz%4");
  assert.equal(native("file:///%"), "/%");
  assert.equal(native("file:///a+b%2Fc%2f"), "/a+b/c");
});

Deno.test("on Windows drives and shares are the native paths, and only they", () => {
  const native = (uri: string) => new TextDecoder().decode(PathUri.parse(uri, "windows").toNative("windows"));
  assert.equal(native("file:///c:/Users/a%20b"), "C:\\Users\\a b");
  assert.equal(native("file://server/share/x"), "\\\\server\\share\\x");
  assert.throws(() => native("file:///tmp"), {
    kind: "invalidRequest",
    message: "'file:///tmp' is invalid on 'windows'",
  });
  assert.equal(PathUri.fromNative("C:\\Users\\a b", "windows"), "file:///C:/Users/a%20b");
  assert.equal(PathUri.fromNative("\\\\server\\share\\x", "windows"), "file://server/share/x");
  assert.throws(() => PathUri.parse("file:///C:/x", "darwin").toNative("darwin"), {
    message: "'file:///C:/x' is invalid on 'macos'",
  });
});
