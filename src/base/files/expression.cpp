#include "base/files/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/files/printable.h"

namespace dlasim {
namespace {

using Names = std::function<ExpressionValue(const std::string&)>;

class Parser {
public:
    Parser(const std::string& text, const std::string& where, const Names& value_of) : text_(text), where_(where), value_of_(value_of) {}

    std::int64_t only_sum()
    {
        const std::int64_t value = number(sum());
        if (peek() != '\0') fail("an expression has integers, timing names, + - * / % ( ) max(,) min(,)");
        return value;
    }
    ExpressionValue all()
    {
        ExpressionValue value = any();
        if (peek() != '\0') fail(kWhole);
        return value;
    }

private:
    static constexpr const char* kWhole = "an expression has numbers, names, 'texts', + - * / % ( ) max(,) min(,) == != < <= > >= && || !";

    char peek()
    {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(std::string_view word)
    {
        peek();
        if (text_.compare(at_, word.size(), word) != 0) return false;
        at_ += word.size();
        return true;
    }
    [[noreturn]] void fail(const std::string& why)
    {
        throw ConfigError(where_, fmt::format("\"{}\": cannot read this at column {}; {}", printable(text_), at_ + 1, why));
    }
    [[noreturn]] void fail_of_text(const ExpressionValue& value)
    {
        fail(fmt::format("'{}' is a text: it can be compared by == and !=, no more", printable(std::get<std::string>(value))));
    }
    std::int64_t number(const ExpressionValue& value)
    {
        if (const std::int64_t* whole = std::get_if<std::int64_t>(&value)) return *whole;
        if (const double* real = std::get_if<double>(&value)) fail(fmt::format("{:g} is no whole number", *real));
        fail_of_text(value);
    }
    double real(const ExpressionValue& value)
    {
        if (const double* number = std::get_if<double>(&value)) return *number;
        if (const std::int64_t* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
        fail_of_text(value);
    }
    bool holds(const ExpressionValue& value) { return real(value) != 0; }
    static bool has_fraction(const ExpressionValue& a, const ExpressionValue& b)
    {
        return std::holds_alternative<double>(a) || std::holds_alternative<double>(b);
    }
    /// `whole` says whether it went beyond 64 bits.
    template <class Whole, class Real>
    ExpressionValue bounded(Whole whole, Real of_reals, const ExpressionValue& a, const ExpressionValue& b)
    {
        if (has_fraction(a, b)) {
            const double value = of_reals(real(a), real(b));
            if (!std::isfinite(value)) fail("the number is too large");
            return value;
        }
        std::int64_t value = 0;
        if (whole(number(a), number(b), &value)) fail("the number goes beyond 64 bits");
        return value;
    }
    ExpressionValue divided(const ExpressionValue& value, const ExpressionValue& by)
    {
        if (!has_fraction(value, by)) return down(number(value), divisor(by));
        if (!(real(by) > 0)) fail("the divisor must be above 0");
        return bounded([](auto...) { return true; }, std::divides<>(), value, by);
    }
    std::int64_t divisor(const ExpressionValue& value)
    {
        const std::int64_t by = number(value);
        if (by <= 0) fail("the divisor must be above 0");
        return by;
    }
    static constexpr auto kLess = [](auto... v) { return __builtin_sub_overflow(v...); };
    static std::int64_t down(std::int64_t value, std::int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

    ExpressionValue any()
    {
        ExpressionValue value = all_of();
        while (take("||")) {
            const bool left = holds(value), right = holds(all_of());
            value = std::int64_t{left || right};
        }
        return value;
    }
    ExpressionValue all_of()
    {
        ExpressionValue value = comparison();
        while (take("&&")) {
            const bool left = holds(value), right = holds(comparison());
            value = std::int64_t{left && right};
        }
        return value;
    }
    ExpressionValue comparison()
    {
        ExpressionValue value = sum();
        for (const std::string_view sign : {"==", "!=", "<=", ">=", "<", ">"}) {
            if (!take(sign)) continue;
            const ExpressionValue other = sum();
            const bool texts = std::holds_alternative<std::string>(value);
            if (texts != std::holds_alternative<std::string>(other)) fail("a text is compared with a number");
            const bool equal = has_fraction(value, other) ? real(value) == real(other) : value == other;
            if (sign == "==") return std::int64_t{equal};
            if (sign == "!=") return std::int64_t{!equal};
            const bool less = has_fraction(value, other) ? real(value) < real(other) : number(value) < number(other);
            const bool holds = sign == "<=" ? less || equal : sign == ">=" ? !less : sign == "<" ? less : !less && !equal;
            return std::int64_t{holds};
        }
        return value;
    }
    ExpressionValue sum()
    {
        ExpressionValue value = product();
        for (;;) {
            if (take("+")) value = bounded([](auto... v) { return __builtin_add_overflow(v...); }, std::plus<>(), value, product());
            else if (take("-")) value = bounded(kLess, std::minus<>(), value, product());
            else return value;
        }
    }
    ExpressionValue product()
    {
        ExpressionValue value = term();
        for (;;) {
            if (take("*")) value = bounded([](auto... v) { return __builtin_mul_overflow(v...); }, std::multiplies<>(), value, term());
            else if (take("/")) value = divided(value, term());
            else if (take("%")) {
                const std::int64_t by = divisor(term()), whole = number(value);
                value = whole - down(whole, by) * by;
            } else return value;
        }
    }
    ExpressionValue term()
    {
        if (++depth_ > 32) fail("it is nested too deep");
        ExpressionValue value = unnested_term();
        --depth_;
        return value;
    }
    ExpressionValue unnested_term()
    {
        const char c = peek();
        if (take("(")) {
            ExpressionValue value = any();
            if (!take(")")) fail(kWhole);
            return value;
        }
        if (take("-")) return bounded(kLess, std::minus<>(), std::int64_t{0}, term());
        if (c == '!' && text_.compare(at_, 2, "!=") != 0 && take("!")) return std::int64_t{!holds(term())};
        if (take("'")) {
            const std::size_t end = text_.find('\'', at_);
            if (end == std::string::npos) fail("the text has no end");
            std::string word = text_.substr(at_, end - at_);
            at_ = end + 1;
            return word;
        }
        if (std::isdigit(static_cast<unsigned char>(c))) return digits();
        const std::size_t start = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' || text_[at_] == '.'))
            ++at_;
        if (at_ == start) fail(kWhole);
        const std::string word = text_.substr(start, at_ - start);
        if ((word == "max" || word == "min") && take("(")) return extreme(word == "max");
        return value_of_(word);
    }
    ExpressionValue digits()
    {
        const std::size_t start = at_;
        std::int64_t value = 0;
        while (is_digit(at_) && value < 1'000'000'000'000) value = value * 10 + (text_[at_++] - '0');
        if (at_ >= text_.size() || text_[at_] != '.' || !is_digit(at_ + 1)) return value;
        while (is_digit(++at_)) {
        }
        double fraction = 0;
        std::from_chars(text_.data() + start, text_.data() + at_, fraction);
        return fraction;
    }
    bool is_digit(std::size_t at) const { return at < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at])); }
    ExpressionValue extreme(bool largest)
    {
        const auto known = [&] {
            ExpressionValue value = any();
            real(value);  // no text
            return value;
        };
        ExpressionValue value = known();
        while (take(",")) {
            const ExpressionValue other = known();
            if (has_fraction(value, other)) value = largest ? std::max(real(value), real(other)) : std::min(real(value), real(other));
            else value = largest ? std::max(number(value), number(other)) : std::min(number(value), number(other));
        }
        if (!take(")")) fail(kWhole);
        return value;
    }

    const std::string& text_;
    const std::string& where_;
    const Names& value_of_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

std::int64_t arithmetic(const std::string& text, const std::string& where, const std::function<std::int64_t(const std::string&)>& value_of)
{
    const Names names = [&](const std::string& name) { return ExpressionValue(value_of(name)); };
    return Parser(text, where, names).only_sum();
}

ExpressionValue expression(const std::string& text, const std::string& where,
                           const std::function<ExpressionValue(const std::string&)>& value_of)
{
    return Parser(text, where, value_of).all();
}

}  // namespace dlasim
