import { type Config, readVersion } from '../config.ts';
import { systemClock } from '../core/clock.ts';
import { DataError } from '../program.ts';
import { createService } from '../service/client.ts';

/**
 * Compares the calls that Deckhand makes with the description that the service publishes.
 * @returns one line
 * @throws DataError with a line for each difference
 */
export async function checkService({
  SERVICE_BASE_URL,
  SERVICE_SIGNUP_URL,
  proxies,
}: Config): Promise<string> {
  const service = createService({
    baseUrl: SERVICE_BASE_URL,
    signupUrl: SERVICE_SIGNUP_URL,
    proxies,
    version: readVersion(),
    clock: systemClock,
  });
  try {
    const report = await service.checkDrift();
    if ('note' in report) return report.note;
    if (report.drift.length > 0) throw new DataError(report.drift);
    return "Deckhand's calls agree with the service's description.";
  } finally {
    await service.close();
  }
}
