/** A payment provider's event as sent, with two spaces of indentation. */
export function paymentEvent(id: string): string {
  const created = 1_767_225_600;
  return JSON.stringify(
    {
      id,
      object: "event",
      api_version: "2025-09-30.clover",
      created,
      data: {
        object: {
          id: `pi_${id}`,
          object: "payment_intent",
          amount: 129_900,
          amount_capturable: 0,
          amount_details: { tip: {} },
          automatic_payment_methods: { allow_redirects: "always", enabled: true },
          capture_method: "automatic_async",
          client_secret: null,
          created,
          currency: "eur",
          customer: "cus_Q5vJ2nYd",
          description: "Pedido nº 1042 – Año nuevo ☕",
          last_payment_error: null,
          livemode: false,
          metadata: { order: "1042", note: "línea 1\nlínea 2" },
          payment_method_types: ["card", "sepa_debit"],
          status: "succeeded",
        },
      },
      livemode: false,
      pending_webhooks: 1,
      request: { id: "req_8Lk2mXs", idempotency_key: "3f0c1a5e-2b7d-4f49-9d6a-6c1c7e4f8b20" },
      type: "payment_intent.succeeded",
    },
    null,
    2,
  );
}

function person(login: string, id: number): object {
  return {
    login,
    id,
    node_id: Buffer.from(`User${id}`).toString("base64"),
    url: `https://code.example.com/api/users/${login}`,
    html_url: `https://code.example.com/${login}`,
    type: "User",
    site_admin: false,
  };
}

/** A code host's pull request of about 60 KB, with text beyond ASCII. */
export function pullRequest(): string {
  const paragraph = "Añade reintentos — «idempotencia», 日本語テスト, עברית, Ελληνικά, 👩‍💻🚀. ".repeat(14);
  const repository = {
    id: 471_120_019,
    name: "almacén-web",
    full_name: "tienda/almacén-web",
    private: true,
    owner: person("tienda", 20_001),
    default_branch: "main",
    topics: ["pagos", "webhooks"],
  };
  const side = (ref: string) => ({ label: `tienda:${ref}`, ref, sha: "9c1f".repeat(10), repo: repository });
  return JSON.stringify({
    action: "opened",
    number: 318,
    pull_request: {
      id: 2_114_307_765,
      number: 318,
      state: "open",
      locked: false,
      title: "Corrige la conciliación de cobros ☕ \u2028 <&>",
      user: person("núria-dev", 31_337),
      body: paragraph,
      created_at: "2026-01-02T10:20:30Z",
      updated_at: "2026-01-02T10:20:30Z",
      merged_at: null,
      labels: Array.from({ length: 40 }, (_, id) => ({
        id,
        name: `área/${id}`,
        color: "ededed",
        description: paragraph,
      })),
      requested_reviewers: Array.from({ length: 20 }, (_, id) => person(`revisor-${id}`, 40_000 + id)),
      head: side("arreglo/cobros-ñ"),
      base: side("main"),
      draft: false,
      commits: 4,
      additions: 310,
      deletions: 87,
      changed_files: 12,
    },
    repository,
    sender: person("núria-dev", 31_337),
  });
}
