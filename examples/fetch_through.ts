// Sends an HTTP request from the server's machine, for what only that machine can reach; the body streams.
//   deno run -A examples/fetch_through.ts ws://127.0.0.1:8765 http://intranet/
import { connect } from "@exec-server/exec-server";

const [url = "ws://127.0.0.1:8765", page = "http://127.0.0.1/"] = Deno.args;
await using server = await connect(url);

const response = await server.fetch(page, { headers: { accept: "text/plain" } });
console.log(response.status, response.headers.get("content-type"));
await response.body?.pipeTo(Deno.stdout.writable, { preventClose: true });
