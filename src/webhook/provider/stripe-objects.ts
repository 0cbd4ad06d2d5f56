import { base62, seconds, type Template } from "./sample.ts";

/** Makes the event of Stripe around an object. */
type MakeEvent = (object: object, event: { id: string; type: string; now: number }) => object;

/**
 * The samples of Stripe's other types, in events that `make` makes: objects as its reference has them.
 * https://docs.stripe.com/api/invoices/object, https://docs.stripe.com/api/checkout/sessions/object,
 * https://docs.stripe.com/api/subscriptions/object
 */
export function stripeSamples(make: MakeEvent): NonNullable<Template["others"]> {
  const samples: Record<string, (now: number) => object> = {
    "invoice.paid": invoice,
    "checkout.session.completed": checkoutSession,
    "customer.subscription.created": subscription,
  };
  return Object.fromEntries(
    Object.entries(samples).map(([type, object]) => [type, { json: (event) => make(object(event.now), event) }]),
  );
}

const MONTH_MS = 30 * 86_400_000;

function invoice(now: number): object {
  const id = `in_1${base62(23)}`;
  return {
    id,
    object: "invoice",
    amount_due: 1900,
    amount_paid: 1900,
    amount_remaining: 0,
    attempt_count: 1,
    attempted: true,
    billing_reason: "subscription_cycle",
    collection_method: "charge_automatically",
    created: seconds(now - 3000),
    currency: "eur",
    customer: `cus_${base62(14)}`,
    customer_email: "customer@example.com",
    lines: {
      object: "list",
      data: [
        {
          id: `il_1${base62(23)}`,
          object: "line_item",
          amount: 1900,
          currency: "eur",
          description: "1 × Basic",
          invoice: id,
          period: { start: seconds(now - MONTH_MS), end: seconds(now) },
          quantity: 1,
        },
      ],
      has_more: false,
      total_count: 1,
      url: `/v1/invoices/${id}/lines`,
    },
    livemode: false,
    metadata: { order_id: "1042" },
    number: "4B2C9A1E-0042",
    parent: {
      type: "subscription_details",
      subscription_details: { metadata: {}, subscription: `sub_1${base62(23)}` },
      quote_details: null,
    },
    period_start: seconds(now - MONTH_MS),
    period_end: seconds(now),
    status: "paid",
    status_transitions: {
      finalized_at: seconds(now - 2000),
      marked_uncollectible_at: null,
      paid_at: seconds(now),
      voided_at: null,
    },
    subtotal: 1900,
    total: 1900,
  };
}

const checkoutSession = (now: number): object => ({
  id: `cs_test_${base62(58)}`,
  object: "checkout.session",
  amount_subtotal: 1900,
  amount_total: 1900,
  client_reference_id: "1042",
  created: seconds(now - 60_000),
  currency: "eur",
  customer: `cus_${base62(14)}`,
  customer_details: { email: "customer@example.com", name: "Jenny Rosen" },
  livemode: false,
  metadata: { order_id: "1042" },
  mode: "payment",
  payment_intent: `pi_3${base62(23)}`,
  payment_status: "paid",
  status: "complete",
  success_url: "https://example.com/thanks",
});

function subscription(now: number): object {
  const id = `sub_1${base62(23)}`;
  return {
    id,
    object: "subscription",
    cancel_at_period_end: false,
    collection_method: "charge_automatically",
    created: seconds(now),
    currency: "eur",
    customer: `cus_${base62(14)}`,
    items: {
      object: "list",
      data: [
        {
          id: `si_${base62(14)}`,
          object: "subscription_item",
          current_period_start: seconds(now),
          current_period_end: seconds(now + MONTH_MS),
          price: { id: `price_1${base62(23)}`, object: "price", currency: "eur", unit_amount: 1900 },
          quantity: 1,
          subscription: id,
        },
      ],
      has_more: false,
      total_count: 1,
      url: `/v1/subscription_items?subscription=${id}`,
    },
    latest_invoice: `in_1${base62(23)}`,
    livemode: false,
    metadata: { order_id: "1042" },
    start_date: seconds(now),
    status: "active",
  };
}
