import { base62, messageId } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { standardSchemes } from "../signature/signing.ts";

export default provider({
  title: "Clerk",
  docs: "https://clerk.com/docs/guides/development/webhooks/overview",
  schemes: standardSchemes("svix"),
  id: ["header:svix-id"],
  type: ["body:type"],
  facts: says("https://docs.svix.com/retries", {
    answer: "any 2xx",
    answerSeconds: 15,
    repeats: "automatic",
    schedule: "after 5 seconds, 5 and 30 minutes, and 2, 5, 10 and 10 hours",
    repeatsForSeconds: 99_305,
    disables: "after 5 days of failures",
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/svix/svix-docs/blob/a3cf04aff77dfde3be0dcbf83093ee4120c0faf5/content/receiving/verifying-payloads/how-manual.mdx",
  },
  sample: {
    type: "user.created",
    newId: messageId,
    headers: ({ id }) => ({ "user-agent": "Svix-Webhooks/1.84.0", "svix-id": id }),
    content: {
      json: ({ type, now }) => {
        const addressId = `idn_${base62(27)}`;
        return {
          data: {
            id: `user_${base62(27)}`,
            object: "user",
            username: null,
            first_name: "Test",
            last_name: "User",
            image_url: "https://img.clerk.com/sample",
            has_image: false,
            primary_email_address_id: addressId,
            primary_phone_number_id: null,
            email_addresses: [
              {
                id: addressId,
                object: "email_address",
                email_address: "user@example.com",
                linked_to: [],
                verification: { status: "verified", strategy: "email_code", attempts: 1, expire_at: now + 600_000 },
              },
            ],
            phone_numbers: [],
            external_accounts: [],
            external_id: null,
            password_enabled: true,
            two_factor_enabled: false,
            public_metadata: {},
            private_metadata: {},
            unsafe_metadata: {},
            last_sign_in_at: null,
            banned: false,
            created_at: now - 1000,
            updated_at: now - 1000,
          },
          event_attributes: { http_request: { client_ip: "192.0.2.10", user_agent: "Mozilla/5.0" } },
          instance_id: "ins_2pWk7VbQz4XnRt9YcDm1HsFjLae",
          object: "event",
          timestamp: now,
          type,
        };
      },
    },
  },
});
