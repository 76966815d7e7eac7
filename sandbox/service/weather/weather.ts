import { changeAnswer, type Question } from './change-answer.ts';
import { type NewWeather, WeatherSettings } from './settings.ts';
import { createSky } from './sky.ts';

/** Makes the service's own answers vary; off until it is set. Answers of faults stay as they were asked for. */
export interface Weather {
  get(): WeatherSettings;
  /** What is left out is as at the start; draws begin anew. Throws on what it does not know. */
  set(settings: NewWeather): WeatherSettings;
  /** The answer as the weather has it. */
  change(question: Question, response: Response): Promise<Response>;
}

export function createWeather(initial: NewWeather = {}): Weather {
  let settings = WeatherSettings.parse(initial);
  let sky = createSky(settings);
  return {
    get: () => settings,
    set(input) {
      settings = WeatherSettings.parse(input);
      sky = createSky(settings);
      return settings;
    },
    async change(question, response) {
      const type = response.headers.get('content-type') ?? '';
      if (settings.strength === 'off' || !type.includes('application/json')) return response;
      const { status, body } = changeAnswer(sky, question, {
        status: response.status,
        body: await response.json(),
      });
      const headers = new Headers(response.headers);
      headers.delete('content-length');
      if (typeof body !== 'string') return new Response(JSON.stringify(body), { status, headers });
      headers.set('content-type', 'text/html; charset=utf-8');
      return new Response(body, { status, headers });
    },
  };
}
