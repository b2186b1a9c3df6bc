#include "files/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "files/printable.h"

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
    static constexpr const char* kWhole = "an expression has integers, names, 'texts', + - * / % ( ) max(,) min(,) == != < <= > >= && || !";

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
    std::int64_t number(const ExpressionValue& value)
    {
        if (const std::int64_t* whole = std::get_if<std::int64_t>(&value)) return *whole;
        fail(fmt::format("'{}' is a text: it can be compared by == and !=, no more", printable(std::get<std::string>(value))));
    }
    template <class Operation>
    std::int64_t bounded(Operation operation, const ExpressionValue& a, const ExpressionValue& b)
    {
        std::int64_t value = 0;
        if (operation(number(a), number(b), &value)) fail("the number goes beyond 64 bits");
        return value;
    }
    std::int64_t divisor(const ExpressionValue& value)
    {
        const std::int64_t by = number(value);
        if (by <= 0) fail("the divisor must be above 0");
        return by;
    }
    static std::int64_t down(std::int64_t value, std::int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

    ExpressionValue any()
    {
        ExpressionValue value = all_of();
        while (take("||")) {
            const std::int64_t left = number(value), right = number(all_of());
            value = std::int64_t{left != 0 || right != 0};
        }
        return value;
    }
    ExpressionValue all_of()
    {
        ExpressionValue value = comparison();
        while (take("&&")) {
            const std::int64_t left = number(value), right = number(comparison());
            value = std::int64_t{left != 0 && right != 0};
        }
        return value;
    }
    ExpressionValue comparison()
    {
        ExpressionValue value = sum();
        for (const std::string_view sign : {"==", "!=", "<=", ">=", "<", ">"}) {
            if (!take(sign)) continue;
            const ExpressionValue other = sum();
            if (value.index() != other.index()) fail("a text is compared with a number");
            if (sign == "==") return std::int64_t{value == other};
            if (sign == "!=") return std::int64_t{value != other};
            const std::int64_t left = number(value), right = number(other);
            const bool holds = sign == "<=" ? left <= right : sign == ">=" ? left >= right : sign == "<" ? left < right : left > right;
            return std::int64_t{holds};
        }
        return value;
    }
    ExpressionValue sum()
    {
        ExpressionValue value = product();
        for (;;) {
            if (take("+")) value = bounded([](auto... v) { return __builtin_add_overflow(v...); }, value, product());
            else if (take("-")) value = bounded([](auto... v) { return __builtin_sub_overflow(v...); }, value, product());
            else return value;
        }
    }
    ExpressionValue product()
    {
        ExpressionValue value = term();
        for (;;) {
            if (take("*")) value = bounded([](auto... v) { return __builtin_mul_overflow(v...); }, value, term());
            else if (take("/")) value = down(number(value), divisor(term()));
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
        if (take("-")) return bounded([](auto... v) { return __builtin_sub_overflow(v...); }, std::int64_t{0}, term());
        if (c == '!' && text_.compare(at_, 2, "!=") != 0 && take("!")) return std::int64_t{number(term()) == 0};
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
        std::int64_t value = 0;
        while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) && value < 1'000'000'000'000)
            value = value * 10 + (text_[at_++] - '0');
        return value;
    }
    ExpressionValue extreme(bool largest)
    {
        std::int64_t value = number(any());
        while (take(",")) {
            const std::int64_t other = number(any());
            value = largest ? std::max(value, other) : std::min(value, other);
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
