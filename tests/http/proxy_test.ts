import assert from "node:assert/strict";
import { type Proxy, proxyFor, UnusableProxy } from "../../lib/http/proxy.ts";

function proxy(url: string, environment: Record<string, string>): Proxy | undefined {
  return proxyFor(new URL(url), new Map(Object.entries(environment)));
}

/** The proxy in short. */
function named(url: string, environment: Record<string, string>): string | undefined {
  const found = proxy(url, environment);
  return found && `${found.secure ? "https" : "http"} ${found.hostname} ${found.port}`;
}

Deno.test("a proxy is chosen by the scheme of the URL, and else from ALL_PROXY", () => {
  const all = { HTTP_PROXY: "http://a:1", HTTPS_PROXY: "http://b:2", ALL_PROXY: "http://c:3" };
  assert.equal(named("http://h/", all), "http a 1");
  assert.equal(named("https://h/", all), "http b 2");
  assert.equal(named("https://h/", { HTTP_PROXY: "http://a:1", ALL_PROXY: "http://c:3" }), "http c 3");
  assert.equal(named("https://h/", { HTTP_PROXY: "http://a:1" }), undefined);
  assert.equal(named("http://h/", {}), undefined);
});

Deno.test("a variable in lower case counts if that in upper case is not there; an empty one is there", () => {
  for (const name of ["HTTP_PROXY", "ALL_PROXY"]) {
    const lower = name.toLowerCase();
    assert.equal(named("http://h/", { [lower]: "http://a:1" }), "http a 1");
    assert.equal(named("http://h/", { [lower]: "http://a:1", [name]: "http://b:2" }), "http b 2");
    assert.equal(named("http://h/", { [lower]: "http://a:1", [name]: "" }), undefined);
  }
  assert.equal(named("http://h/", { HTTP_PROXY: "", ALL_PROXY: "http://c:3" }), "http c 3");
  const proxied = { HTTP_PROXY: "http://a:1" };
  assert.equal(named("http://h/", { ...proxied, no_proxy: "h" }), undefined);
  assert.equal(named("http://h/", { ...proxied, no_proxy: "h", NO_PROXY: "x" }), "http a 1");
});

Deno.test("no proxy is used by what may be a CGI program", () => {
  assert.equal(
    named("http://h/", { HTTP_PROXY: "http://a:1", ALL_PROXY: "http://a:1", REQUEST_METHOD: "GET" }),
    undefined,
  );
});

Deno.test("a proxy is a URL with or without its scheme, and with the port of its scheme", () => {
  const of = (value: string) => named("http://h/", { HTTP_PROXY: value });
  assert.equal(of("a:3128"), "http a 3128");
  assert.equal(of("a"), "http a 80");
  assert.equal(of("HTTPS://a"), "https a 443");
  assert.equal(of("http://a:1/path?x#y"), "http a 1");
  assert.equal(of("http://[::1]:1"), "http ::1 1");
});

Deno.test("what names no proxy means that there is none", () => {
  for (
    const value of [
      " http://a:1 ",
      "http://",
      "://bad",
      "not a url",
      "ftp://a:1",
      "socks://a:1",
      "//a:1",
      "direct://",
      "a:1/x",
    ]
  ) {
    assert.equal(named("http://h/", { HTTP_PROXY: value }), undefined, value);
  }
  assert.equal(named("http://h/", { HTTP_PROXY: "ftp://a:1", ALL_PROXY: "http://c:3" }), "http c 3");
});

Deno.test("a proxy that we cannot speak to is not gone around", () => {
  for (const value of ["socks4://a:1", "socks4a://a:1", "SOCKS5://a:1", "socks5h://u:p@a:1", "http://a:99999"]) {
    assert.throws(() => named("http://h/", { HTTP_PROXY: value, ALL_PROXY: "http://c:3" }), UnusableProxy, value);
    assert.equal(named("http://h/", { HTTP_PROXY: value, NO_PROXY: "h" }), undefined);
  }
});

Deno.test("user and password of a proxy become its credentials", () => {
  const of = (value: string) => proxy("http://h/", { HTTP_PROXY: value })?.authorization;
  assert.equal(of("http://a:1"), undefined);
  assert.equal(of("http://u:p@a:1"), `Basic ${btoa("u:p")}`);
  assert.equal(of("u:p@a:1"), `Basic ${btoa("u:p")}`);
  assert.equal(of("http://us%40er:p%3Aw%20d@a:1"), `Basic ${btoa("us@er:p:w d")}`);
  assert.equal(of("http://u@a:1"), `Basic ${btoa("u:")}`);
  assert.equal(of("http://:p@a:1"), `Basic ${btoa(":p")}`);
  assert.equal(of("http://%zz:%ff@a:1"), `Basic ${btoa("%zz:\xef\xbf\xbd")}`);
});
