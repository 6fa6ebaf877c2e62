import type { ModelLayout } from './layout.js';

/** One size of a family. */
type Row = readonly [
  size: string,
  layers: number,
  width: number,
  heads: number,
  headsKv: number,
  headLength: number,
  feedForward: number,
  parameters: number,
  others?: Partial<ModelLayout>,
];

type Shared = Pick<ModelLayout, 'name' | 'architecture' | 'vocabulary' | 'contextLength' | 'tied'> &
  Partial<ModelLayout>;

const llama3 = { architecture: 'llama', vocabulary: 128_256, contextLength: 131_072, ropeFactors: true } as const;
const gemma3 = { name: 'gemma3', architecture: 'gemma3', vocabulary: 262_144, tied: true } as const;
const deepseek = {
  architecture: 'deepseek2',
  vocabulary: 129_280,
  contextLength: 163_840,
  tied: false,
  latent: { queryRank: 1536, keyRank: 512, ropeLength: 64, plainLength: 128, valueLength: 128 },
  experts: { count: 256, used: 8, feedForward: 2048, shared: 1, denseLayers: 3 },
} as const;

/**
 * Models whose files agree. The smallest Qwen models are not here: their files have the embedding once or twice,
 * depending on who made them. The larger Gemma models are, although some files pad their embedding by 64 rows.
 */
export const layouts: readonly ModelLayout[] = [
  ...family({ ...llama3, name: 'llama3.1', tied: false }, [
    ['8b', 32, 4096, 32, 8, 128, 14_336, 8_030_261_248, { comparedWithFile: true }],
    ['70b', 80, 8192, 64, 8, 128, 28_672, 70_553_706_496],
    ['405b', 126, 16_384, 128, 8, 128, 53_248, 405_853_388_800],
  ]),
  ...family({ ...llama3, name: 'llama3.2', tied: true }, [
    ['1b', 16, 2048, 32, 8, 64, 8192, 1_235_814_400],
    ['3b', 28, 3072, 24, 8, 128, 8192, 3_212_749_824],
  ]),
  ...family({ ...llama3, name: 'llama3.3', tied: false }, [['70b', 80, 8192, 64, 8, 128, 28_672, 70_553_706_496]]),
  ...family({ name: 'mistral', architecture: 'llama', vocabulary: 32_768, contextLength: 32_768, tied: false }, [
    ['7b', 32, 4096, 32, 8, 128, 14_336, 7_248_023_552],
  ]),
  ...family({ name: 'mixtral', architecture: 'llama', vocabulary: 32_000, contextLength: 32_768, tied: false }, [
    ['8x7b', 32, 4096, 32, 8, 128, 14_336, 46_702_792_704, { experts: { count: 8, used: 2, feedForward: 14_336 } }],
  ]),
  ...family({ name: 'smollm2', architecture: 'llama', vocabulary: 49_152, contextLength: 8192, tied: true }, [
    ['135m', 30, 576, 9, 3, 64, 1536, 134_515_008, { comparedWithFile: true }],
    ['360m', 32, 960, 15, 5, 64, 2560, 361_821_120],
    ['1.7b', 24, 2048, 32, 32, 64, 8192, 1_711_376_384],
  ]),
  ...family({ name: 'qwen2.5', architecture: 'qwen2', vocabulary: 152_064, contextLength: 32_768, tied: false }, [
    ['7b', 28, 3584, 28, 4, 128, 18_944, 7_615_616_512],
    ['14b', 48, 5120, 40, 8, 128, 13_824, 14_770_033_664],
    ['32b', 64, 5120, 40, 8, 128, 27_648, 32_763_876_352],
    ['72b', 80, 8192, 64, 8, 128, 29_568, 72_706_203_648],
  ]),
  ...family({ name: 'qwen3', architecture: 'qwen3', vocabulary: 151_936, contextLength: 40_960, tied: false }, [
    ['4b', 36, 2560, 32, 8, 128, 9728, 4_022_468_096, { tied: true }],
    ['8b', 36, 4096, 32, 8, 128, 12_288, 8_190_735_360],
    ['14b', 40, 5120, 40, 8, 128, 17_408, 14_768_307_200],
    ['32b', 64, 5120, 64, 8, 128, 25_600, 32_762_123_264],
  ]),
  ...family({ name: 'qwen3', architecture: 'qwen3moe', vocabulary: 151_936, contextLength: 40_960, tied: false }, [
    ['30b-a3b', 48, 2048, 32, 4, 128, 6144, 30_532_122_624, { experts: { count: 128, used: 8, feedForward: 768 } }],
    [
      '235b-a22b',
      94,
      4096,
      64,
      4,
      128,
      12_288,
      235_093_634_560,
      { experts: { count: 128, used: 8, feedForward: 1536 } },
    ],
  ]),
  ...family({ ...gemma3, contextLength: 32_768, window: { tokens: 512, pattern: 6 } }, [
    ['1b', 26, 1152, 4, 1, 256, 6912, 999_885_952],
  ]),
  ...family({ ...gemma3, contextLength: 131_072, window: { tokens: 1024, pattern: 6 } }, [
    ['4b', 34, 2560, 8, 4, 256, 10_240, 3_880_099_328],
    ['12b', 48, 3840, 16, 8, 256, 15_360, 11_765_788_416],
    ['27b', 62, 5376, 32, 16, 128, 21_504, 27_009_002_240],
  ]),
  ...family({ ...deepseek, name: 'deepseek-r1' }, [
    ['671b', 61, 7168, 128, 128, 192, 18_432, 671_026_419_200, { comparedWithFile: true }],
  ]),
  ...family({ ...deepseek, name: 'deepseek-v3' }, [['671b', 61, 7168, 128, 128, 192, 18_432, 671_026_419_200]]),
  ...family(
    {
      ...{ name: 'gpt-oss', architecture: 'gpt-oss', vocabulary: 201_088, contextLength: 131_072, tied: false },
      window: { tokens: 128, pattern: 2 },
      publishedAs: 'mxfp4',
    },
    [
      ['20b', 24, 2880, 64, 8, 64, 2880, 20_914_757_184, { experts: { count: 32, used: 4, feedForward: 2880 } }],
      ['120b', 36, 2880, 64, 8, 64, 2880, 116_829_156_672, { experts: { count: 128, used: 4, feedForward: 2880 } }],
    ],
  ),
];

function family(shared: Shared, rows: readonly Row[]): ModelLayout[] {
  return rows.map(([size, layers, width, heads, headsKv, headLength, feedForward, parameters, others]) => {
    return { ...shared, size, layers, width, heads, headsKv, headLength, feedForward, parameters, ...others };
  });
}
