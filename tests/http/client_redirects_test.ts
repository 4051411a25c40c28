import assert from "node:assert/strict";
import { ask, client, failure, request } from "./ask.ts";
import { RawPeer, response } from "./raw_peer.ts";

const OK = response("200 OK", "ok");

Deno.test("HttpClient follows redirects up to the tenth", async () => {
  const redirect = (to: string) => response("302 Found", "moved", `location: ${to}`);
  const path = (number: number) => [`/${number}`, redirect(`/${number + 1}`)];
  await using peer = RawPeer.withPaths({
    ...Object.fromEntries(Array.from({ length: 11 }, (_, at) => path(at))),
    "/11": OK,
    "/ftp": redirect("ftp://elsewhere/"),
  });
  using http = client();
  assert.equal((await ask(http, request(`${peer.url}/1`))).body, "ok");
  assert.equal(peer.seen.length, 11);
  assert.equal(peer.connections, 1);
  assert.deepEqual(peer.heads[1], ["GET /2 HTTP/1.1", `referer: ${peer.url}/1`]);
  assert.equal(await failure(ask(http, request(`${peer.url}/0`))), "request: too many redirects");
  assert.equal(peer.seen.length, 22);
  assert.equal(
    await failure(ask(http, request(`${peer.url}/ftp`))),
    "request: redirect target uses unsupported URL scheme: ftp",
  );
  assert.equal((await ask(http, request(`${peer.url}/0`), "stop")).body, "moved");
});

Deno.test("HttpClient does not wait for the body of a redirect", async () => {
  const hungUp = Promise.withResolvers<void>();
  await using peer = new RawPeer(async (answering) => {
    if (answering.path === "/ok") return await answering.send(OK);
    await answering.send("HTTP/1.1 302 Found\r\nlocation: /ok\r\ncontent-length: 10\r\n\r\nsome");
    await answering.hungUp();
    hungUp.resolve();
  });
  using http = client();
  assert.equal((await ask(http, request(peer.url))).body, "ok");
  await hungUp.promise;
});

Deno.test("HttpClient names the hop that failed", async () => {
  await using peer = RawPeer.saying(response("302 Found", "", "location: http://u:secret@127.0.0.1:1/x#f"));
  using http = client();
  const expected = "request: error sending request for url (http://127.0.0.1:1/x#f)";
  assert.equal(await failure(ask(http, request(peer.url))), expected);
});
