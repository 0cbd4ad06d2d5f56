/** What proves that a preset is right. */
export interface Evidence {
  /**
   * `published`: a delivery that somebody published verifies. `sdk`: a delivery verifies that the provider's own package, or
   * the one that its documentation names, signed or accepted. `self-signed`: only one that was made here.
   */
  kind: "published" | "sdk" | "self-signed";
  /** The address of the published delivery, or the package. */
  by: string | null;
}

/** The addresses of published deliveries that the tests verify. */
const PUBLISHED: Record<string, string> = {
  adobe_io: "https://github.com/adobe/aio-lib-events/blob/495332c73aed294f346fd0bc7d1ed7aaea5eac60/test/mock.js",
  adyen:
    "https://github.com/Adyen/adyen-node-api-library/blob/3b84a188ef071064636a19f53f95f8aa7112dd91/src/__tests__/hmacValidator.spec.ts",
  airtable:
    "https://github.com/gtalarico/pyairtable/blob/25f31b0f4ab95d3e23ab37a645483ac38c8126ca/tests/test_models_webhook.py",
  alipay:
    "https://github.com/alipay/alipay-sdk-nodejs-all/blob/e1676390871eb7a69b4f81aa15de8327ac15738a/test/alipay.test.ts",
  atlassian_jira: "https://developer.atlassian.com/cloud/jira/platform/webhooks/",
  authorize_net:
    "https://github.com/stymiee/authnetjson/blob/17546b05ef98be07cb2e32a16a578ac0b9dd47cf/tests/Authnetjson/AuthnetWebhookTest.php",
  aws_sns:
    "https://github.com/aws/aws-sdk-java-v2/blob/53b6218f41b29a942348df096a22f8a69d80fe1f/services-custom/sns-message-manager/src/test/resources/software/amazon/awssdk/messagemanager/sns/internal/test-notification-with-subject.json",
  bitbucket:
    "https://github.com/go-playground/webhooks/blob/02d182ac47693b5f7263de2ba7bd46607c80aed8/bitbucket-server/bitbucketserver_test.go",
  box: "https://github.com/box/box-node-sdk/blob/7dcf9c2bfc44d9436d73c253ce2c9805a41d0e75/tests/lib/managers/webhooks-test.js",
  braintree: "https://github.com/lionelbarrow/braintree-go/blob/2e3e383fa808c85430ed8db5bd87112932a9bb3f/hmac_test.go",
  buildkite: "https://github.com/buildkite/go-buildkite/blob/62b6fcf322c5259e786ac43db46f5c6419617411/webhook_test.go",
  checkr:
    "https://github.com/checkr/webhook-verification-examples/blob/eea406d991bec43d6b77932d68f1825d444cc03e/verify_signature.js",
  circleci:
    "https://github.com/circleci/circleci-docs/blob/9734a1410cc98741bc09b84f187325a8f43baf68/docs/guides/modules/integration/pages/outbound-webhooks.adoc",
  clerk:
    "https://github.com/svix/svix-docs/blob/a3cf04aff77dfde3be0dcbf83093ee4120c0faf5/content/receiving/verifying-payloads/how-manual.mdx",
  coinbase_commerce:
    "https://github.com/coinbase/coinbase-commerce-node/blob/d46c59684423b07d068e001ae8c5d58abb9cbbc1/test/testWebhook.spec.js",
  configcat:
    "https://github.com/configcat/docs/blob/de3b72469862556f4444837c735b2f937b2bcdb5/website/docs/advanced/notifications-webhooks.mdx",
  convoy:
    "https://github.com/frain-dev/convoy/blob/2b60cc652e1d4babc1857280d5911817960e83e7/pkg/signature/signature_test.go",
  cronofy:
    "https://github.com/cronofy/cronofy-ruby/blob/b75d79f275ca5dc0704f2b3789e7d1cfbe056c6e/spec/lib/cronofy/client_spec.rb",
  discord:
    "https://github.com/hikari-py/hikari/blob/0ac3385921aabbd21ce691821d41996e9a5a255e/tests/hikari/impl/test_interaction_server.py",
  ebay: "https://github.com/eBay/event-notification-nodejs-sdk/blob/feaf3378ca263a81432cf5b8c8a6fd8cb3d3e2f3/test/test.json",
  finch:
    "https://github.com/Finch-API/finch-api-node/blob/9ebd48fb8177ea7182e88f58866797226316c523/tests/api-resources/webhooks.test.ts",
  gitea: "https://github.com/go-playground/webhooks/blob/02d182ac47693b5f7263de2ba7bd46607c80aed8/gitea/gitea_test.go",
  github: "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries",
  gocardless:
    "https://github.com/gocardless/gocardless-pro-ruby/blob/93c45cb20cbfb160cc3680174c5dfbb4dbd80f9e/spec/webhook_spec.rb",
  hubspot:
    "https://github.com/HubSpot/hubspot-api-python/blob/a2a528a97f4c1131d7f65d0303bfbd2e523a8eba/tests/spec/utils/test_signature.py",
  lemon_squeezy:
    "https://github.com/NdoleStudio/lemonsqueezy-go/blob/b0f6ba0f56cc6825f722072d4c0f79c3d4deaa0b/webhooks_service_test.go",
  line: "https://github.com/line/line-bot-sdk-python/blob/e1fa9338a3230ef4912aa387778641a505cf7372/tests/test_webhook.py",
  mailgun:
    "https://github.com/mailgun/mailgun-php/blob/5024827b4ba170d9547919c7cbcb56477659bdd0/tests/Api/WebhookTest.php",
  mandrill:
    "https://github.com/evendis/mandrill-rails/blob/eb89d7c9a57b144ef0c5d0b049b6dd89cf2b0dee/spec/fixtures/webhook_examples/click_with_signature.json",
  messagebird:
    "https://github.com/messagebird/messagebird-nodejs/blob/2d8b7de16c6c4c24829bc009dfa29c59a68ab189/lib/testdata/webhook-signature-jwt-reference.json",
  meta: "https://github.com/david-lev/pywa/blob/0bcf2f192ff3cf8ae24a425d85f4295e3cca7a62/tests/test_server.py",
  modern_treasury:
    "https://github.com/Modern-Treasury/modern-treasury-node/blob/6dea66ee0a28a34299703f515ca479906b1f922e/tests/api-resources/webhooks.test.ts",
  mux: "https://github.com/muxinc/mux-elixir/blob/eb7368730a47c0e32c53b49be8fbcb682bd6f27b/test/mux/webhooks_test.exs",
  nylas:
    "https://github.com/nylas/nylas-java/blob/5e0890b8d73604da31f287f76b0bcc83c9eb5b29/src/test/kotlin/com/nylas/util/WebhookRequestValidatorTest.kt",
  openai:
    "https://github.com/openai/openai-node/blob/7b7d6ca71130d37ec09792c50056b47861f2eccf/tests/api-resources/webhooks.test.ts",
  paddle:
    "https://github.com/PaddleHQ/paddle-node-sdk/blob/b8ee4b12741d88abe5a33f5c8a74735c9ac3653f/src/__tests__/notifications/webhooks-validator.node.test.ts",
  pagerduty:
    "https://github.com/PagerDuty/go-pagerduty/blob/d34fb98c09850c92771001dd77a3609acda0ca29/webhookv3/webhookv3_test.go",
  paystack:
    "https://github.com/yabacon/paystack-php/blob/8097917f304bc40a3eaa5c3eb25c292331f85083/tests/Mock/EventTestDouble.php",
  pusher:
    "https://github.com/pusher/pusher-http-node/blob/7492d8db91463cbcb591bcbebadb8ea3767bf0ba/tests/integration/webhook.js",
  quickbooks:
    "https://github.com/intuit/QuickBooks-V3-Java-SDK/blob/79b5a3c125b2c1c4828f89142039789b61b47ea4/ipp-v3-java-devkit/src/test/java/com/intuit/ipp/services/WebhooksServiceTest.java",
  razorpay:
    "https://github.com/razorpay/razorpay-node/blob/9737ef17342b8a551f7af2413c8d24df559accc8/test/utils/razorpay-utils.spec.js",
  recurly:
    "https://github.com/recurly/recurly-client-ruby/blob/05fa008d7df3cb82187e7c8c7b0330a8b8ea0b58/spec/recurly/webhooks_spec.rb",
  replicate:
    "https://github.com/replicate/replicate-javascript/blob/2fd6f3944f5e252f2eb7cd4e9e5416786b9c4861/index.test.ts",
  resend:
    "https://github.com/symfony/symfony/blob/5feb7493c372384d78b4931bb76f73c83f49f50e/src/Symfony/Component/Mailer/Bridge/Resend/Tests/Webhook/ResendRequestParserTest.php",
  sanity:
    "https://github.com/sanity-io/webhook-toolkit/blob/649f5adcd8e9d45f73172b05870863b299ba9bc9/test/signature.test.ts",
  sendgrid:
    "https://github.com/sendgrid/sendgrid-nodejs/blob/498e2329e87d804d83f4a7b519d33fa09198d0ca/packages/eventwebhook/src/eventwebhook.spec.js",
  shopify:
    "https://github.com/Shopify/shopify-app-js/blob/ef2043d4a8c4ca0adb9020d76090b2fb94979dab/packages/apps/shopify-api/lib/webhooks/__tests__/validate.test.ts",
  sinch:
    "https://github.com/sinch/sinch-sdk-node/blob/affb35e5164993b316915bd780165d704e44689b/packages/sdk-client/tests/utils/authorization.helper.test.ts",
  slack:
    "https://github.com/slackapi/java-slack-sdk/blob/86ff7ca9915e21882def04c2d579ac02503f95fe/slack-app-backend/src/test/java/test_locally/app_backend/SlackSignatureTest.java",
  square:
    "https://github.com/square/square-nodejs-sdk/blob/c58c6e097af6717e5c728712f79f89f6cd9da12f/tests/integration/webhooks.test.ts",
  standard_webhooks:
    "https://github.com/standard-webhooks/standard-webhooks/blob/b2fa7b8719fb75d326b591077f5d1b385cfcdfae/libraries/javascript/src/webhook.test.ts",
  stripe:
    "https://github.com/stripe/stripe-dotnet/blob/d33036292e0fba185de235ce26836eebba9f91fd/src/StripeTests/Services/Events/EventUtilityTest.cs",
  svix: "https://github.com/svix/svix-webhooks/blob/4fc0cfb8b426c87ef7e2b937e7d896a71d456a47/server/svix-server/src/worker.rs",
  trello:
    "https://github.com/aspnet/WebHooks/blob/9a2b0cb2f4c67bafef13cd865923250d22b22268/test/Microsoft.AspNetCore.WebHooks.Receivers.Trello.Test/Filters/TrelloVerifySignatureFilterTests.cs",
  twilio: "https://github.com/twilio/twilio-node/blob/45d3d65a4ea87652f4c7973af0e0998f3af31322/spec/validation.spec.js",
  twitch: "https://github.com/nicklaw5/helix/blob/3b942245c29a586cd1b8859dbf945190f5aaeba6/eventsub_test.go",
  viber:
    "https://github.com/Viber/viber-bot-node/blob/e202b1b6d73f929269caf82c392173937e2d4412/test/message/message-validator-test.js",
  wechat_pay:
    "https://github.com/wechatpay-apiv3/wechatpay-go/blob/6dbd7ce2ec5967ac2de5fa053479b411967b9c29/core/notify/notify_test.go",
  wise: "https://github.com/transferwise/digital-signatures-examples/blob/c29c3625cbf2afe571b045cea2fd1a5d99764f6b/verify-webhook-signature/verify-signature.js",
  workos:
    "https://github.com/workos/workos-dotnet/blob/2bed92a9a5be90d53b289b894ff73e0749a1e1d1/test/WorkOSTests/Services/Webhooks/WebhookTests.cs",
  x: "https://github.com/twitterdev/autohook/blob/b872e8464f4f580cc71d85604fff810782c03627/test/signature.js",
  xero: "https://github.com/webfox/laravel-xero-oauth2/blob/d474eb79a16804c4cac9eb1a0066630a2178e797/tests/Unit/WebhookTest.php",
  zoom: "https://github.com/Jericho/ZoomNet/blob/a8a2562ac7e26146c9064098645ec3689bce3ebf/Source/ZoomNet.UnitTests/WebhookSignatureValidationTests.cs",
};

/** The packages whose deliveries the tests verify, for presets without a published one. */
const PACKAGES: Record<string, string> = {
  atlassian_connect: "atlassian-jwt@2.0.3",
  chargebee: "chargebee@3.33.0",
  customer_io: "customerio-node@5.2.0",
  gemini: "standardwebhooks@1.1.1",
  hook0: "hook0-client@1.1.0",
  incident_io: "svix@2.5.0",
  increase: "increase@0.583.0",
  linear: "@linear/sdk@98.0.0",
  mercado_pago: "mercadopago@3.6.1",
  mollie: "mollie-api-typescript@1.12.28",
  monday: "jsonwebtoken@9.0.3",
  notion: "@notionhq/client@5.26.0",
  npm: "npm-hook-receiver@1.0.0",
  plaid: "jose@6.2.18",
  polar: "@polar-sh/sdk@0.49.0",
  render: "standardwebhooks@1.1.1",
  segment: "@segment/action-destinations@3.497.0",
  stytch: "svix@2.5.0",
  supabase: "standardwebhooks@1.1.1",
  telegram: "grammy@1.46.0",
  telnyx: "telnyx@7.24.0",
  vanta: "svix@2.5.0",
  vonage: "@vonage/jwt@1.17.1",
  webflow: "webflow-api@3.3.4",
};

/** The best evidence for a preset. */
export function evidenceOf(slug: string): Evidence {
  const published = PUBLISHED[slug];
  if (published !== undefined) return { kind: "published", by: published };
  const by = PACKAGES[slug];
  return by === undefined ? { kind: "self-signed", by: null } : { kind: "sdk", by };
}
