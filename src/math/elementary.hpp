#pragma once

#include <span>

/// Functions of one number, with the same bits on every processor and with every C library, and kernels that
/// take all cells of a row or a matrix through them. Errors are those of tests/elementary_test.cpp, in units
/// in the last place.
namespace attn::elementary {

double exp(double x);       // 1
double tanh(double x);      // 2.6
double logistic(double x);  // 1 / (1 + exp(−x)): 2.3
double erf(double x);       // 1.5
double log(double x);       // 1
/// 0.8 up to 2^30; further out they are those of the C library.
double sin(double x);
double cos(double x);
/// base^exponent for a base above 0: 0.51.
double power(double base, double exponent);

// x Φ(x), 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))) and x / (1 + exp(−x)).
double gelu(double x);
double gelu_by_tanh(double x);
double silu(double x);
double relu(double x);  // max(x, 0), and NaN where x is

// x ← f(x), cell by cell.
void exp(std::span<double> x);
void tanh(std::span<double> x);
void logistic(std::span<double> x);
void erf(std::span<double> x);
void relu(std::span<double> x);
void gelu(std::span<double> x);
void gelu_by_tanh(std::span<double> x);
void silu(std::span<double> x);

// d ← d · f′, cell by cell: from y = f(x) of tanh, the logistic function and relu, whose slope at 0 is 0;
// from x of the others. Both have the same size.
void multiply_by_slope_of_tanh(std::span<double> d, std::span<const double> y);
void multiply_by_slope_of_logistic(std::span<double> d, std::span<const double> y);
void multiply_by_slope_of_relu(std::span<double> d, std::span<const double> y);
void multiply_by_slope_of_gelu(std::span<double> d, std::span<const double> x);
void multiply_by_slope_of_gelu_by_tanh(std::span<double> d, std::span<const double> x);
void multiply_by_slope_of_silu(std::span<double> d, std::span<const double> x);
// The slopes alone.
double slope_of_tanh(double y);
double slope_of_logistic(double y);
double slope_of_relu(double y);
double slope_of_gelu(double x);
double slope_of_gelu_by_tanh(double x);
double slope_of_silu(double x);

}  // namespace attn::elementary
