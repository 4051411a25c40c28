/** The world between an executor and its harnesses: a registry and a rendezvous. Leaving the scope ends both. */
import { TestRegistry } from "./registry.ts";
import { type RendezvousOptions, TestRendezvous } from "./rendezvous.ts";

export interface WorldOptions extends RendezvousOptions {
  /** Whether an authorization is good for one validation only. */
  readonly singleUse?: boolean;
}

export class TestWorld implements AsyncDisposable {
  readonly rendezvous: TestRendezvous;
  readonly registry: TestRegistry;

  private constructor({ singleUse = false, ...options }: WorldOptions) {
    this.rendezvous = new TestRendezvous(options);
    const url = this.rendezvous.url.bind(this.rendezvous);
    this.registry = new TestRegistry({ url, singleUse });
  }

  static start(options: WorldOptions = {}): TestWorld {
    return new TestWorld(options);
  }

  /** What `--remote` gets. */
  get registryUrl(): string {
    return this.registry.url;
  }

  /** Whether these bytes, or this text, occur in a frame that was relayed. */
  relayedHas(needle: string | Uint8Array): boolean {
    const bytes = typeof needle === "string" ? new TextEncoder().encode(needle) : needle;
    const text = latin1(bytes);
    return this.rendezvous.relayed.some((frame) => latin1(frame.bytes).includes(text));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.registry[Symbol.asyncDispose]();
    await this.rendezvous[Symbol.asyncDispose]();
  }
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}
