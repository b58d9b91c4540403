/** Secrets that all servers of one database have in common. */
export const SHARED_SECRETS = {
  MB_SESSION_SECRET: 'a'.repeat(64),
  MB_ENCRYPTION_KEY: 'b'.repeat(64),
}

/** Settings of servers that share a database: none of them goes through a pooler. */
export const sharing = (url: string) => ({
  ...SHARED_SECRETS,
  MB_DATABASE_URL: url,
  MB_DATABASE_DIRECT_URL: url,
})
