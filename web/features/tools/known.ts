/** Servers that many people use; what each asks for is told when its tools are listed. */
export const KNOWN_SERVERS = [
  { name: 'github', title: 'GitHub', url: 'https://api.githubcopilot.com/mcp/', header: true },
  { name: 'gitlab', title: 'GitLab', url: 'https://gitlab.com/api/v4/mcp', header: true },
  { name: 'notion', title: 'Notion', url: 'https://mcp.notion.com/mcp', header: true },
  { name: 'linear', title: 'Linear', url: 'https://mcp.linear.app/mcp', header: true },
  { name: 'sentry', title: 'Sentry', url: 'https://mcp.sentry.dev/mcp', header: true },
  { name: 'stripe', title: 'Stripe', url: 'https://mcp.stripe.com', header: true },
  { name: 'huggingface', title: 'Hugging Face', url: 'https://huggingface.co/mcp', header: false },
  { name: 'context7', title: 'Context7', url: 'https://mcp.context7.com/mcp', header: false },
  { name: 'deepwiki', title: 'DeepWiki', url: 'https://mcp.deepwiki.com/mcp', header: false },
  { name: 'exa', title: 'Exa', url: 'https://mcp.exa.ai/mcp', header: false },
  {
    name: 'learn',
    title: 'Microsoft Learn',
    url: 'https://learn.microsoft.com/api/mcp',
    header: false,
  },
  {
    name: 'home',
    title: 'Home Assistant',
    url: 'http://homeassistant.local:8123/api/mcp',
    header: true,
  },
] as const

export type KnownServer = (typeof KNOWN_SERVERS)[number]
