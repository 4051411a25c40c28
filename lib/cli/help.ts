/** What `--help` prints. */
export const HELP = `exec-server: runs programs for an agent that speaks to it over the wire of \`codex exec-server\`.

Usage: exec-server [OPTIONS]

Without options it listens on a free port of this machine alone and prints the one line to connect to, for example
ws://127.0.0.1:41234. SIGINT (Ctrl-C) and SIGTERM end it, and with it every program that it started.

Options:
      --listen <URL>
          Where to be reached: ws://IP:PORT, with an address and not a name (IPv6 in brackets, port 0 for a free one),
          or stdio: one client, on standard input and output, one JSON message per line
          [default: ws://127.0.0.1:0]
      --concurrent-requests <COUNT>
          How many requests of one connection may run at once; 1 answers strictly in order [default: 1]
      --max-detached <DURATION>
          How long a client may have its processes kept after it has left, such as 90s, 30m, 24h or 7d; 0: no longer
          than the 80 seconds that every client gets [default: 24h]
      --sandbox <MODE>
          What enforces the sandboxes that clients ask for: bubblewrap, unshare (of util-linux) or landlock; auto: the
          first of them that works here and can hold the policy. Without any of them what wants to be confined is
          refused. external: the machine around the server is the sandbox, and nothing is enforced [default: auto]
      --log-level <LEVEL>
          What to write to standard error: off, error, warn, info or debug. Commands, files, environments and tokens
          are never written [default: warn; info with --remote]
  -h, --help
          Print this help
  -V, --version
          Print the version

Who may connect to ws://IP:PORT (default: everyone who can reach the port):
      --ws-auth <MODE>
          capability-token: whoever knows the token
          signed-bearer-token: whoever brings a JSON Web Token that was signed with the shared secret (HS256)
          Either way the client sends it in the header "Authorization: Bearer TOKEN"
      --ws-token-file <PATH>
          capability-token: the file that holds the token
      --ws-token-sha256 <HEX>
          capability-token: instead of the file, the SHA-256 digest of the token, 64 hex digits
      --ws-shared-secret-file <PATH>
          signed-bearer-token: the file that holds the secret, at least 32 bytes
      --ws-issuer <ISSUER>
      --ws-audience <AUDIENCE>
          signed-bearer-token: what "iss" must say, and what "aud" must say or contain [default: anything]
      --ws-max-clock-skew-seconds <SECONDS>
          signed-bearer-token: how far the clocks may differ [default: 30]
      --allow-origin <ORIGIN>
          A web page that may connect as well, such as https://app.example.com or http://localhost:3000; can be given
          several times. Browsers say where a page comes from, and are refused otherwise [default: none]

Remote mode (instead of --listen; see also: exec-server forward --help):
      --remote <URL>
          Register with the registry of this base URL, and serve whom it lets in through an encrypted relay
      --environment-id <ID>
          The environment to become
      --name <NAME>
          A label of your own; it is sent nowhere
      --remote-transport <TRANSPORT>
          noise: end-to-end encrypted through a rendezvous; direct: one connection of plain messages to the service,
          which needs --aws-sigv4 [default: noise]
      --exit-on-stdin-close
          End when standard input ends. CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE=true says the same

What the registry is shown (default: CODEX_API_KEY, or else what CODEX_HOME/auth.json holds):
      --trust-registry <HOST>
          A host that the API key and the Agent Identity may be shown to, over https, besides those that they belong to
          and this machine; can be given several times
      --registration-bearer-file <PATH>
          The token of this file, which nobody but its owner may be able to read or write; read again for each request.
          For this, the next and the one after it the URL must be https, unless it is on this machine
      --registration-bearer-stdin
          The token that is the first line of standard input
      --executor-credential-stdin
          The newest of the credentials that come on standard input, one JSON object a line; ends when that ends
      --chatgpt-token-stdin
          The ChatGPT access token that is the first line of standard input; the URL must be https
      --chatgpt-account-id <ID>
          The account of that token, if it names none
      --use-agent-identity-auth
          The Agent Identity of CODEX_ACCESS_TOKEN
      --aws-sigv4
          With --remote-transport direct: sign requests with AWS SigV4, by the credentials of the AWS_* variables or a
          profile
      --aws-profile <PROFILE>
      --aws-region <REGION>
      --aws-service <SERVICE>
          With --aws-sigv4: the profile, the region (default: of the variables or the profile) and the service
          [default: execute-api]

Exit codes: 0 ended as asked, 1 could not start or was refused, 2 the command line is wrong.

Examples:
  exec-server --listen ws://127.0.0.1:8765
  exec-server --listen stdio --log-level off
  exec-server --listen ws://0.0.0.0:8765 --ws-auth capability-token --ws-token-file ./token
  exec-server --remote https://registry.example --environment-id build --registration-bearer-file ./token
`;
