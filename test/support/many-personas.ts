/** Imports 1,000 personas with prompts of 24 KB into a tenant: an export of 24 MB. */
export async function importManyPersonas(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  for (let batch = 0; batch < 25; batch++) {
    const personas = Array.from({ length: 40 }, (_, n) => ({
      name: `${batch}-${n}`,
      prompt: '界'.repeat(8_000),
      is_default: false,
    }))
    const body = JSON.stringify({ config: { format_version: 1, personas, apps: [] } })
    const answer = await fetch(`${url}/v1/import`, { method: 'POST', headers, body })
    if (answer.status !== 200) throw new Error(`import: ${answer.status}`)
  }
}
