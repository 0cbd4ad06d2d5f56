import { FORM } from "../content/content.ts";
import { integer, isoSeconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Chargify",
  docs: "https://maxio-chargify.zendesk.com/hc/en-us/articles/5405357509645-Webhooks-Reference",
  schemes: hmacOfBody("x-chargify-webhook-signature-hmac-sha-256"),
  id: ["header:x-chargify-webhook-id"],
  type: ["body:event"],
  contentTypes: [FORM],
  facts: says("https://help.chargify.com/announcements/disabling-webhook-endpoints.html", {
    disables: "pauses after 25 failures in a row, and stops after 48 hours of them",
  }),
  sample: {
    type: "payment_success",
    newId: () => String(integer(10)),
    headers: ({ id }) => ({ "x-chargify-webhook-id": id }),
    content: {
      form: ({ id, type, now }) => {
        const time = `${isoSeconds(now).replace("T", " ")} +0000`;
        return {
          id,
          event: type,
          "payload[site][id]": "51804",
          "payload[site][subdomain]": "acme-test",
          "payload[subscription][id]": "70418236",
          "payload[subscription][state]": "active",
          "payload[subscription][customer][email]": "customer@example.com",
          "payload[subscription][product][handle]": "pro-monthly",
          "payload[transaction][id]": String(integer(9)),
          "payload[transaction][amount_in_cents]": "1900",
          "payload[transaction][success]": "true",
          "payload[transaction][created_at]": time,
          created_at: time,
        };
      },
    },
  },
});
