//! How sure a mean is.
//!
//! In: one value a query. Out: mean, median, a 95 % interval of the mean by the bootstrap (percentiles of 10,000
//! resamples; Efron 1979), and for two runs over the same queries the probability that the mean difference is chance, by
//! flipping the signs of the differences at random (Fisher's randomisation test, 10,000 flips). The random numbers have
//! a fixed seed: the same values give the same answer everywhere.

use serde::Serialize;

const RESAMPLES: u32 = 10_000;
const SEED: u64 = 0x5EED;

/// A mean and where it lies with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// Middle of a set of counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Middle {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub median: f64,
}

/// A count as a number to reckon with.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of queries, hits and bytes are far below 2^52"
)]
pub fn float(count: usize) -> f64 {
    count as f64
}

/// 0 for no values.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    values.iter().sum::<f64>() / float(values.len())
}

/// Mean and median of counts.
pub fn middle(counts: &[usize]) -> Middle {
    let mut values: Vec<f64> = counts.iter().map(|&count| float(count)).collect();
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    let median = match values.get(half) {
        None => 0.0,
        Some(upper) if values.len() % 2 == 1 => *upper,
        Some(upper) => f64::midpoint(
            values.get(half.wrapping_sub(1)).copied().unwrap_or(*upper),
            *upper,
        ),
    };
    Middle {
        mean: mean(&values),
        median,
    }
}

/// The mean of `values` with its interval.
pub fn estimate(values: &[f64]) -> Estimate {
    let mean = mean(values);
    if values.len() < 2 {
        return Estimate {
            mean,
            low: mean,
            high: mean,
        };
    }
    let mut random = SplitMix64(SEED);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let drawn = (0..values.len()).filter_map(|_| values.get(random.below(values.len())));
            drawn.sum::<f64>() / float(values.len())
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let tail = means.len() / 40;
    Estimate {
        mean,
        low: means.get(tail).copied().unwrap_or(mean),
        high: means.get(means.len() - 1 - tail).copied().unwrap_or(mean),
    }
}

/// How probable a mean difference of at least this size is if each difference might as well have the other sign.
pub fn chance(differences: &[f64]) -> f64 {
    /// Sums of the same numbers in another order may differ in their last bits.
    const SLACK: f64 = 1e-12;
    let observed = differences.iter().sum::<f64>().abs();
    let slack = SLACK * differences.iter().map(|d| d.abs()).sum::<f64>().max(1.0);
    let mut random = SplitMix64(SEED);
    let mut as_large = 0_u32;
    for _ in 0..RESAMPLES {
        let mut bits = 0;
        let mut sum = 0.0;
        for (place, difference) in differences.iter().enumerate() {
            if place % 64 == 0 {
                bits = random.next();
            }
            sum += if bits & 1 == 0 { *difference } else { -difference };
            bits >>= 1;
        }
        as_large += u32::from(sum.abs() >= observed - slack);
    }
    f64::from(as_large + 1) / f64::from(RESAMPLES + 1)
}

/// A small generator whose numbers are the same on every machine (Steele, Lea and Flood 2014).
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Less than `bound`: the upper half of a product, whose bias is below `bound` in 2^64.
    fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.next()) * (bound as u128);
        usize::try_from(product >> 64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_its_published_numbers() {
        let mut random = SplitMix64(1_234_567);
        let numbers = [random.next(), random.next(), random.next()];
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
        let mut seen = [0; 5];
        for _ in 0..1000 {
            seen[random.below(5)] += 1;
        }
        assert!(seen.iter().all(|&count| (150..250).contains(&count)), "{seen:?}");
    }

    #[test]
    fn the_middle_of_counts() {
        for (counts, mean, median) in [
            (&[][..], 0.0, 0.0),
            (&[4], 4.0, 4.0),
            (&[9, 1], 5.0, 5.0),
            (&[1, 100, 4], 35.0, 4.0),
            (&[4, 1, 2, 101], 27.0, 3.0),
        ] {
            assert_eq!(middle(counts), Middle { mean, median }, "{counts:?}");
        }
    }

    #[test]
    fn an_interval_holds_the_mean_and_narrows_with_more_queries() {
        let one = estimate(&[0.25]);
        assert_eq!((one.mean, one.low, one.high), (0.25, 0.25, 0.25));
        let same = estimate(&[0.5; 9]);
        assert_eq!((same.low, same.high), (0.5, 0.5));
        // Half right, half wrong: the error of the mean is .5/√n, the interval some 1.96 of it to each side.
        for (queries, width) in [(20, 0.219), (100, 0.098), (400, 0.049)] {
            let values: Vec<f64> = (0..queries).map(|n| f64::from(n % 2)).collect();
            let found = estimate(&values);
            assert!((found.mean - 0.5).abs() < 1e-12);
            assert!(
                (found.high - 0.5 - width).abs() < 0.025 && (0.5 - found.low - width).abs() < 0.025,
                "{found:?}"
            );
            assert_eq!(found, estimate(&values));
        }
    }

    #[test]
    fn chance_is_large_for_nothing_and_small_for_much() {
        assert!((chance(&[0.0; 10]) - 1.0).abs() < 1e-12);
        assert!((chance(&[0.5]) - 1.0).abs() < 1e-12);
        // Ten differences of one sign: two of 2^10 flips are as large.
        let ten = chance(&[0.1; 10]);
        assert!((ten - 2.0 / 1024.0).abs() < 0.002, "{ten}");
        let mixed: Vec<f64> = (0..100).map(|n| if n % 2 == 0 { 0.3 } else { -0.3 }).collect();
        assert!(chance(&mixed) > 0.9);
    }
}
