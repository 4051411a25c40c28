import assert from "node:assert/strict";
import type { SignedRequest } from "../../../lib/relay/credential.ts";
import { sigV4Headers } from "../../../lib/relay/direct/sigv4.ts";
import { loadVectors } from "../vectors/load.ts";

interface Recorded {
  readonly cases: readonly {
    readonly name: string;
    readonly method: "GET" | "POST";
    readonly path: string;
    readonly query: string;
    readonly signed_headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly access_key_id: string;
    readonly secret_access_key: string;
    readonly session_token?: string;
    readonly region: string;
    readonly service: string;
    readonly authorization: string;
  }[];
}

/** `20261130T080238Z` */
function timeOf(amzDate: string): Date {
  return new Date(amzDate.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

Deno.test("every signature of the reference comes out byte for byte", async (t) => {
  for (const recorded of loadVectors<Recorded>("sigv4.json").cases) {
    await t.step(recorded.name, async () => {
      const { host, "x-amz-date": date, "x-amz-security-token": token, ...headers } = recorded.signed_headers;
      const scheme = recorded.method === "GET" ? "ws" : "http";
      const request: SignedRequest = {
        method: recorded.method,
        url: `${scheme}://${host}${recorded.path}${recorded.query === "" ? "" : `?${recorded.query}`}`,
        headers,
        body: new TextEncoder().encode(recorded.body),
      };
      const credentials = {
        accessKeyId: recorded.access_key_id,
        secretAccessKey: recorded.secret_access_key,
        sessionToken: recorded.session_token,
      };
      assert.deepEqual(await sigV4Headers(request, credentials, recorded, timeOf(date!)), {
        "authorization": recorded.authorization,
        "x-amz-date": date,
        ...(token === undefined ? {} : { "x-amz-security-token": token }),
      });
    });
  }
});

/** The credentials and scope of AWS's own examples. */
const EXAMPLE = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const SCOPE = { region: "us-east-1", service: "service" };
const AT = new Date("2015-08-30T12:36:00Z");

async function signature(url: string, others: Partial<SignedRequest> = {}): Promise<string> {
  const request: SignedRequest = { method: "GET", url, headers: {}, body: new Uint8Array(), ...others };
  const { authorization } = await sigV4Headers(request, EXAMPLE, SCOPE, AT);
  return authorization!.replace(/^.*Signature=/, "");
}

Deno.test("AWS's published examples come out as published", async () => {
  assert.equal(
    await signature("https://example.amazonaws.com/"),
    "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
  );
  assert.equal(
    await signature("https://example.amazonaws.com/?Param2=value2&Param1=value1"),
    "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
  );
  assert.equal(
    await signature("https://example.amazonaws.com/", { method: "POST" }),
    "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
  );
});

Deno.test("the order of the query, dots in the path and the port that the scheme has anyway make no difference", async () => {
  const usual = await signature("https://example.com/a/b?x=1&x=2&y=3");
  for (
    const url of [
      "https://example.com:443/a/b?x=1&x=2&y=3",
      "wss://example.com/a/b?y=3&x=2&x=1",
      "https://EXAMPLE.com/a/./c/../b?x=1&x=2&y=3",
      "https://example.com//a//b?x=1&x=2&y=3#fragment",
      "https://user:pw@example.com/a/b?x=1&x=2&y=3",
    ]
  ) {
    assert.equal(await signature(url), usual, url);
  }
  for (const url of ["https://example.com:444/a/b?x=1&x=2&y=3", "https://example.com/a/b/?x=1&x=2&y=3"]) {
    assert.notEqual(await signature(url), usual, url);
  }
});

Deno.test("all that is signed is signed: another method, path, query, header or body has another signature", async () => {
  const all = await Promise.all([
    signature("https://example.com/a?b=c"),
    signature("https://example.com/a?b=d"),
    signature("https://example.com/A?b=c"),
    signature("https://example.org/a?b=c"),
    signature("https://example.com/a?b=c", { method: "POST" }),
    signature("https://example.com/a?b=c", { body: Uint8Array.of(1) }),
    signature("https://example.com/a?b=c", { headers: { "content-type": "application/json" } }),
    signature("https://example.com/a%20b?b=c"),
    signature("https://example.com/a%2520b?b=c"),
  ]);
  assert.equal(new Set(all).size, all.length);
});
