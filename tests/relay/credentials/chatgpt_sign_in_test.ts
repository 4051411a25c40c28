import assert from "node:assert/strict";
import { accessToken, ENDPOINT, idToken, NOW_S, SignInRig } from "./sign_in_rig.ts";
import { members, unsignedJwt } from "./tokens.ts";

const bearer = (token: unknown) => `Bearer ${token}`;
const EXPIRED =
  "your access token could not be refreshed because your refresh token has expired; log out and sign in again";

function refusal(status: number, code?: string): () => Response {
  return () => Response.json({ error: { code, message: "secret" } }, { status });
}

Deno.test("an access token that is good for 300 s is shown as it is, with the account", async () => {
  const rig = new SignInRig({ access_token: accessToken(300) });
  assert.deepEqual(await rig.headers(), {
    "authorization": bearer(accessToken(300)),
    "chatgpt-account-id": "acc-1",
  });
  assert.equal(rig.asked.length, 0);
});

Deno.test("no account is shown where the sign-in names none, and a token that does not expire is good", async () => {
  const rig = new SignInRig({ access_token: "opaque", account_id: null });
  assert.deepEqual(await rig.headers(), { authorization: "Bearer opaque" });
  assert.equal(rig.asked.length, 0);
});

Deno.test("an account of the government's service is shown by a header of its own, if the id token says so", async () => {
  const claim = (auth: unknown) => unsignedJwt({ "https://api.openai.com/auth": auth });
  const cases: [unknown, string | undefined][] = [
    [claim({ chatgpt_account_id: "acc-1", chatgpt_account_is_fedramp: true }), "true"],
    [claim({ chatgpt_account_id: "acc-1", chatgpt_account_is_fedramp: false }), undefined],
    [claim({ chatgpt_account_id: "acc-1", chatgpt_account_is_fedramp: "true" }), undefined],
    [claim({ chatgpt_account_is_fedramp: true }), undefined],
    ["no JWT", undefined],
  ];
  for (const [id_token, value] of cases) {
    assert.equal((await new SignInRig({ id_token }).headers())["x-openai-fedramp"], value);
  }
});

Deno.test("an access token that expires within 300 s, or has expired, is refreshed before it is shown", async () => {
  for (const secondsLeft of [299, 0, -1000]) {
    const rig = new SignInRig({ access_token: accessToken(secondsLeft) });
    assert.equal((await rig.headers())["authorization"], bearer(rig.newTokens()["access_token"]));
    assert.equal(rig.asked.length, 1);
    const [{ url, init, body }] = rig.asked as [typeof rig.asked[0]];
    assert.equal(url, ENDPOINT);
    assert.equal(init.method, "POST");
    assert.equal(init.redirect, "manual");
    assert.equal(new Headers(init.headers).get("content-type"), "application/json");
    assert.deepEqual(body, {
      client_id: "app_EMoamEEZ73f0CkXaXp7hrann",
      grant_type: "refresh_token",
      refresh_reason: "proactive_expiry",
      refresh_token: "refresh-0",
    });
  }
});

Deno.test("new tokens are written down beside all else that the file holds", async () => {
  const rig = new SignInRig({ access_token: accessToken(0), more: [1] });
  await rig.headers();
  assert.deepEqual(rig.stored, {
    auth_mode: "chatgpt",
    tokens: { ...rig.newTokens(), account_id: "acc-1", more: [1] },
    other: { kept: 1.5 },
    last_refresh: new Date(NOW_S * 1000).toISOString(),
  });
  assert.deepEqual(rig.warnings, []);
});

Deno.test("what the endpoint leaves out stays as it is", async () => {
  const rig = new SignInRig({ access_token: accessToken(0), id_token: "id-0" });
  rig.answer = () => Response.json({ access_token: "new" });
  assert.equal((await rig.headers())["authorization"], "Bearer new");
  const { access_token, refresh_token, id_token } = rig.stored.tokens;
  assert.deepEqual([access_token, refresh_token, id_token], ["new", "refresh-0", "id-0"]);
});

Deno.test("requests that need a refresh at the same time share one", async () => {
  const rig = new SignInRig({ access_token: accessToken(0) });
  const shown = await Promise.all(Array.from({ length: 5 }, () => rig.headers()));
  assert.equal(rig.asked.length, 1);
  assert.equal(new Set(shown.map(({ authorization }) => authorization)).size, 1);
});

Deno.test("after a 401 there is one refresh, whose reason is forced", async () => {
  const rig = new SignInRig();
  const refused = await rig.headers();
  assert.equal(await rig.signIn.renew(refused, rig.signal), true);
  assert.equal(rig.asked[0]?.body["refresh_reason"], "forced");
  assert.notEqual((await rig.headers())["authorization"], refused["authorization"]);
  // Another request that was refused with the same old token takes what there is by now.
  assert.equal(await rig.signIn.renew(refused, rig.signal), true);
  assert.equal(rig.asked.length, 1);
});

Deno.test("another program's newer tokens are used instead of a refresh", async () => {
  const rig = new SignInRig({ access_token: accessToken(0) });
  rig.store({ access_token: accessToken(5000), refresh_token: "theirs" });
  assert.equal((await rig.headers())["authorization"], bearer(accessToken(5000)));
  assert.equal(rig.asked.length, 0);
});

Deno.test("another program's tokens that expire soon as well are refreshed with their refresh token", async () => {
  const rig = new SignInRig({ access_token: accessToken(0) });
  rig.store({ access_token: accessToken(10), refresh_token: "theirs" });
  await rig.headers();
  assert.equal(rig.asked[0]?.body["refresh_token"], "theirs");
  assert.equal(rig.stored.tokens["refresh_token"], "refresh-1");
});

Deno.test("the sign-in of another account or user is not taken over, and what there was of ours is not shown any more", async () => {
  for (const theirs of [{ account_id: "acc-2" }, { id_token: idToken("user-2") }, { id_token: undefined }]) {
    for (const secondsLeft of [0, 3600]) {
      const rig = new SignInRig({ access_token: accessToken(secondsLeft) });
      rig.store({ access_token: accessToken(5000), refresh_token: "theirs", ...theirs });
      await assert.rejects(rig.headers(), {
        name: "CredentialError",
        message: "/home/auth.json holds the sign-in of another account or user by now; start again to use it",
        transient: false,
      });
      assert.equal(rig.asked.length, 0);
    }
  }
});

Deno.test("whoever has signed out is not shown any more", async () => {
  for (const file of [undefined, members({ tokens: null }), members({ auth_mode: "apikey", OPENAI_API_KEY: "k" })]) {
    const rig = new SignInRig();
    rig.file = file;
    const gone = { message: "/home/auth.json holds no ChatGPT sign-in any more", transient: false };
    await assert.rejects(rig.headers(), gone);
    // Neither is a 401 a reason to refresh what was taken away.
    await assert.rejects(rig.signIn.renew({ authorization: bearer(accessToken(3600)) }, rig.signal), gone);
    assert.equal(rig.asked.length, 0);
  }
});

Deno.test("newer tokens of another program are shown with the next request", async () => {
  const rig = new SignInRig();
  rig.store({ access_token: accessToken(5000), refresh_token: "theirs" });
  assert.equal((await rig.headers())["authorization"], bearer(accessToken(5000)));
});

Deno.test("of two programs that refresh at once the one that comes too late takes what the other got", async () => {
  const rig = new SignInRig({ access_token: accessToken(0) });
  rig.answer = () => {
    rig.store({ access_token: accessToken(9000), refresh_token: "theirs" });
    return refusal(401, "refresh_token_reused")();
  };
  assert.equal((await rig.headers())["authorization"], bearer(accessToken(9000)));
  assert.deepEqual(rig.warnings, []);
});

Deno.test("the one that comes too late waits a moment for what the other has not written yet", async () => {
  const rig = new SignInRig({ access_token: accessToken(0) });
  rig.answer = refusal(401, "refresh_token_reused");
  const shown = rig.headers();
  await rig.waitsUntil(1_000);
  rig.store({ access_token: accessToken(9000), refresh_token: "theirs" });
  rig.clock.advance(1_000);
  assert.equal((await shown)["authorization"], bearer(accessToken(9000)));

  const alone = new SignInRig({ access_token: accessToken(0) });
  alone.answer = refusal(401, "refresh_token_reused");
  const refused = assert.rejects(alone.headers(), {
    message:
      "your access token could not be refreshed because your refresh token was already used; log out and sign in again",
    transient: false,
  });
  await alone.waitsUntil(1_000);
  alone.clock.advance(1_000);
  await refused;
});

Deno.test("what another program has written during a refresh is not overwritten", async () => {
  const rig = new SignInRig({ access_token: accessToken(0) });
  rig.answer = () => {
    rig.store({ access_token: accessToken(9000), refresh_token: "theirs" });
    return Response.json(rig.newTokens());
  };
  assert.equal((await rig.headers())["authorization"], bearer(rig.newTokens()["access_token"]));
  assert.equal(rig.stored.tokens["refresh_token"], "theirs");
  assert.deepEqual(rig.warnings, [
    "the refreshed ChatGPT tokens are not in /home/auth.json: another program has changed or removed it meanwhile",
  ]);
});

Deno.test("whoever has signed out during a refresh stays signed out on disk", async () => {
  const rig = new SignInRig({ access_token: accessToken(0) });
  rig.answer = () => {
    rig.file = undefined;
    return Response.json(rig.newTokens());
  };
  await rig.headers();
  assert.equal(rig.file, undefined);
  assert.equal(rig.warnings.length, 1);
});

Deno.test("tokens that cannot be written down are used all the same, and written with the next ones", async () => {
  const rig = new SignInRig({ access_token: accessToken(0) });
  rig.writeFailure = "No space left on device (os error 28)";
  assert.equal((await rig.headers())["authorization"], bearer(rig.newTokens()["access_token"]));
  assert.deepEqual(rig.warnings, [
    "the refreshed ChatGPT tokens are not in /home/auth.json: No space left on device (os error 28)",
  ]);
  // The old ones in the file are not mistaken for newer ones.
  rig.nowMs += 7200 * 1000;
  rig.writeFailure = undefined;
  rig.answer = () => Response.json({ access_token: accessToken(20_000) });
  await rig.headers();
  assert.equal(rig.asked[1]?.body["refresh_token"], "refresh-1");
  const { access_token, refresh_token, id_token } = rig.stored.tokens;
  const written = [accessToken(20_000), "refresh-1", idToken("user-1", "1")];
  assert.deepEqual([access_token, refresh_token, id_token], written);
});

Deno.test("a file that cannot be read just now shows nothing, and may be read later", async () => {
  const rig = new SignInRig();
  rig.readFailure = "Permission denied (os error 13)";
  await assert.rejects(rig.headers(), {
    message: "failed to read /home/auth.json again: Permission denied (os error 13)",
    transient: true,
  });
  rig.readFailure = undefined;
  assert.equal((await rig.headers())["authorization"], bearer(accessToken(3600)));
});

Deno.test("what was read of the file before our new tokens were in it is not taken for newer ones", async () => {
  const rig = new SignInRig();
  rig.store({ access_token: accessToken(5000), refresh_token: "theirs" });
  const held = rig.holdNextRead();
  const slow = rig.headers();
  const refused = await rig.headers();
  assert.equal(await rig.signIn.renew(refused, rig.signal), true);
  held.release();
  assert.equal((await slow)["authorization"], bearer(rig.newTokens()["access_token"]));
});

Deno.test("a refresh that fails before the token has expired is only told", async () => {
  for (const answer of [refusal(500), refusal(401, "refresh_token_expired")]) {
    const rig = new SignInRig({ access_token: accessToken(100) });
    rig.answer = answer;
    assert.equal((await rig.headers())["authorization"], bearer(accessToken(100)));
    assert.equal(rig.warnings.length, 1);
  }
});

Deno.test("a refresh that fails afterwards is final or passing, as the endpoint says, and what it says is not repeated", async () => {
  const lost = (why: string) => `your access token could not be refreshed${why}; log out and sign in again`;
  const cases: [() => Response, boolean, string][] = [
    [refusal(500), true, "failed to refresh the ChatGPT token: status 500"],
    [refusal(408), true, "failed to refresh the ChatGPT token: status 408"],
    [refusal(429), true, "failed to refresh the ChatGPT token: status 429"],
    [refusal(400), false, lost("")],
    [refusal(401, "secret"), false, lost("")],
    [refusal(401, "refresh_token_expired"), false, EXPIRED],
    [refusal(403, "refresh_token_invalidated"), false, lost(" because your refresh token was revoked")],
    [() => Response.json({ error: "refresh_token_expired" }, { status: 401 }), false, EXPIRED],
    [() => Response.json({ code: "refresh_token_expired" }, { status: 401 }), false, EXPIRED],
    [() => new Response("secret", { status: 401 }), false, lost("")],
    [refusal(302), false, "failed to refresh the ChatGPT token: status 302"],
    [() => new Response("secret"), false, "the token endpoint's answer is not a JSON object"],
    [() => Response.json({}), false, "the token endpoint's answer has no access_token"],
    [
      () => Response.json({ access_token: "a\nb" }),
      false,
      "the token endpoint's answer holds an access_token that an HTTP header cannot carry",
    ],
    [
      () => new Response(new Uint8Array(1024 * 1024 + 1)),
      true,
      "failed to refresh the ChatGPT token: an answer of more than 1048576 bytes",
    ],
  ];
  for (const [answer, transient, message] of cases) {
    const rig = new SignInRig({ access_token: accessToken(0) });
    rig.answer = answer;
    await assert.rejects(rig.headers(), { name: "CredentialError", message, transient });
    assert.equal(rig.clock.pendingTimers, 0);
  }
});

Deno.test("no connection to the endpoint, and none within 30 s, are passing failures", async () => {
  const broken = new SignInRig({ access_token: accessToken(0) });
  broken.answer = () => Promise.reject(new TypeError(`error sending request for url (${ENDPOINT})`));
  await assert.rejects(broken.headers(), {
    message: "failed to refresh the ChatGPT token: no connection, or it broke",
    transient: true,
  });

  const slow = new SignInRig({ access_token: accessToken(0) });
  const called = Promise.withResolvers<void>();
  slow.answer = ({ init }) => {
    called.resolve();
    return new Promise((_, reject) => init.signal!.addEventListener("abort", () => reject(init.signal!.reason)));
  };
  const failed = assert.rejects(slow.headers(), {
    message: "failed to refresh the ChatGPT token: no answer within 30 s",
    transient: true,
  });
  await called.promise;
  slow.clock.advance(30_000);
  await failed;
});

Deno.test("a refresh token that was refused for good is not sent again, a new one of the file is", async () => {
  const rig = new SignInRig({ access_token: accessToken(0) });
  rig.answer = refusal(401, "refresh_token_expired");
  for (let i = 0; i < 3; i++) await assert.rejects(rig.headers(), { message: EXPIRED });
  assert.equal(rig.asked.length, 1);
  rig.store({ access_token: accessToken(0), refresh_token: "new" });
  rig.answer = () => Response.json(rig.newTokens());
  await rig.headers();
  assert.equal(rig.asked[1]?.body["refresh_token"], "new");
});

Deno.test("after a 401 a refresh that fails, for now or for good, lets the 401 stand", async () => {
  const cases: [() => Response, string][] = [
    [refusal(401, "refresh_token_expired"), EXPIRED],
    [refusal(503), "failed to refresh the ChatGPT token: status 503"],
    [() => Response.json({}), "the token endpoint's answer has no access_token"],
  ];
  for (const [answer, warning] of cases) {
    const rig = new SignInRig();
    const refused = await rig.headers();
    rig.answer = answer;
    assert.equal(await rig.signIn.renew(refused, rig.signal), false);
    assert.deepEqual(rig.warnings, [warning]);
  }
  const rig = new SignInRig();
  const refused = await rig.headers();
  rig.readFailure = "it does not hold a JSON object";
  assert.equal(await rig.signIn.renew(refused, rig.signal), false);
  assert.equal(rig.asked.length, 0);
});

Deno.test("after a 401 nothing is refreshed for a sign-in that does not say of which account and user it is", async () => {
  const claims = (auth: unknown) => unsignedJwt({ sub: "user-1", "https://api.openai.com/auth": auth });
  const cases: [Record<string, unknown>, boolean][] = [
    [{ account_id: null }, false],
    [{ id_token: undefined }, false],
    [{ id_token: claims({ chatgpt_account_id: "acc-1" }) }, false],
    [{ id_token: claims({ chatgpt_user_id: "user-1" }) }, true],
    [{ id_token: claims({ user_id: "user-1" }) }, true],
  ];
  for (const [tokens, isRefreshed] of cases) {
    const rig = new SignInRig(tokens);
    assert.equal(await rig.signIn.renew(await rig.headers(), rig.signal), isRefreshed);
    assert.equal(rig.asked.length, isRefreshed ? 1 : 0);
  }
});

Deno.test("new tokens of another user are written down, and never shown", async () => {
  const rig = new SignInRig();
  const refused = await rig.headers();
  rig.answer = () => Response.json({ ...rig.newTokens(), id_token: idToken("user-2") });
  const gone = { message: "the token endpoint's answer is for another user", transient: false };
  await assert.rejects(rig.signIn.renew(refused, rig.signal), gone);
  assert.equal(rig.stored.tokens["refresh_token"], "refresh-1");
  assert.deepEqual(await rig.headers(), refused);
});

Deno.test("a sign-in without a refresh token is told, and nobody is asked", async () => {
  const rig = new SignInRig({ access_token: accessToken(0), refresh_token: "" });
  await assert.rejects(rig.headers(), {
    message: "the ChatGPT sign-in of /home/auth.json has no refresh token; sign in again",
  });
  assert.equal(rig.asked.length, 0);
});

Deno.test("a refresh goes on when whoever asked for it is gone, so that its tokens are not lost", async () => {
  const rig = new SignInRig({ access_token: accessToken(0) });
  const answer = Promise.withResolvers<Response>();
  const called = Promise.withResolvers<void>();
  rig.answer = () => {
    called.resolve();
    return answer.promise;
  };
  const gone = new AbortController();
  const given = assert.rejects(rig.signIn.headers(gone.signal), { message: "gone" });
  await called.promise;
  gone.abort(new Error("gone"));
  await given;
  answer.resolve(Response.json(rig.newTokens()));
  assert.equal((await rig.headers())["authorization"], bearer(rig.newTokens()["access_token"]));
  assert.equal(rig.asked.length, 1);
  assert.equal(rig.stored.tokens["refresh_token"], "refresh-1");
});

Deno.test("nothing is refreshed for a signal that is aborted already", async () => {
  const rig = new SignInRig({ access_token: accessToken(0) });
  await assert.rejects(rig.signIn.headers(AbortSignal.abort(new Error("over"))), { message: "over" });
  assert.equal(rig.asked.length, 0);
});

Deno.test("printing a sign-in shows nothing of its tokens", () => {
  const { signIn } = new SignInRig({ refresh_token: "refresh-secret" });
  for (const text of [Deno.inspect(signIn, { depth: 9, showHidden: true }), JSON.stringify(signIn), String(signIn)]) {
    assert.doesNotMatch(text, /secret|eyJ/);
  }
});
