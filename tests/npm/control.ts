import { TcpProxy } from "../client/support/tcp_proxy.ts";

/** What the smoke test may ask for: connections that are cut, a text, and for a browser the package and a page. */
export class Control implements AsyncDisposable {
  /** Between the client and the server. */
  readonly proxy: TcpProxy;
  /** Whose connections `/cut` cuts. */
  cutting: { cut(): void };
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #result = Promise.withResolvers<unknown>();

  /** @param serverUrl Of the exec-server. @param root The directories that a browser may see, by their names in URLs. */
  constructor(serverUrl: string, root: Readonly<Record<string, string>> = {}, page = "") {
    this.proxy = this.cutting = new TcpProxy(serverUrl);
    const listening = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
    this.#server = Deno.serve(listening, async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/cut") this.cutting.cut();
      if (pathname === "/body") return new Response("the body");
      if (pathname === "/result") this.#result.resolve(await request.json());
      if (pathname === "/page") return new Response(page, { headers: { "content-type": "text/html" } });
      const [, name = "", path = ""] = /^\/(\w+)\/([\w./]+)$/.exec(pathname) ?? [];
      const directory = root[name];
      if (directory === undefined || path.includes("..")) return new Response("");
      const body = await Deno.readFile(`${directory}/${path}`);
      return new Response(body, { headers: { "content-type": "text/javascript" } });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** What a page has sent. */
  get result(): Promise<unknown> {
    return this.#result.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
    await this.proxy[Symbol.asyncDispose]();
  }
}
