import { expect, it } from 'vitest';
import { writeCsv } from '../../src/core/csv.ts';

it('CSV is that of RFC 4180, and runs nothing in a spreadsheet', () => {
  const rows = [
    ['account', 'kind', 'total'],
    ['acme', '=HYPERLINK("http://x.example","pay")', '-120.00'],
    ['acme', '+1', '49.00'],
    ['acme', '-2+3', '12000'],
    ['acme', '@SUM(A1)', ''],
    ['acme', '\t=1', 'two\r\nlines, "quoted"'],
  ];
  expect(writeCsv(rows)).toBe(
    [
      'account,kind,total',
      `acme,"'=HYPERLINK(""http://x.example"",""pay"")",-120.00`,
      "acme,'+1,49.00",
      "acme,'-2+3,12000",
      "acme,'@SUM(A1),",
      `acme,'\t=1,"two\r\nlines, ""quoted"""`,
      '',
    ].join('\r\n'),
  );
});
