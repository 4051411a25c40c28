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
      --log-level <LEVEL>
          What to write to standard error: off, error, warn, info or debug. Commands, files, environments and tokens
          are never written [default: warn]
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

Not supported yet, and refused: --remote <URL>, --environment-id <ID>, --name <NAME>, and --exit-on-stdin-close
(also CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE=true), which has a meaning with --remote only.

Exit codes: 0 ended as asked, 1 could not start, 2 the command line is wrong.

Examples:
  exec-server --listen ws://127.0.0.1:8765
  exec-server --listen stdio --log-level off
  exec-server --listen ws://0.0.0.0:8765 --ws-auth capability-token --ws-token-file ./token
`;
