#include "units/dram/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"

namespace dlasim::dram {
namespace {

class Parser {
public:
    Parser(const std::string& text, const std::string& where, const std::function<std::int64_t(const std::string&)>& value_of)
        : text_(text), where_(where), value_of_(value_of)
    {
    }

    std::int64_t all()
    {
        const std::int64_t value = sum();
        if (peek() != '\0') fail();
        return value;
    }

private:
    char peek()
    {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char c)
    {
        if (peek() != c) return false;
        ++at_;
        return true;
    }
    [[noreturn]] void fail()
    {
        throw ConfigError(where_, fmt::format("\"{}\": cannot read this at column {}; an expression has integers, "
                                              "timing names, + - * / ( ) max(,) min(,)",
                                              text_, at_ + 1));
    }
    std::int64_t sum()
    {
        std::int64_t value = product();
        for (;;) {
            if (take('+')) value += product();
            else if (take('-')) value -= product();
            else return value;
        }
    }
    std::int64_t product()
    {
        std::int64_t value = term();
        for (;;) {
            if (take('*')) value *= term();
            else if (take('/')) {
                const std::int64_t by = term();
                if (by <= 0) fail();
                value /= by;
            } else return value;
        }
    }
    std::int64_t term()
    {
        if (++depth_ > 32) fail();
        const std::int64_t value = unnested_term();
        --depth_;
        return value;
    }
    std::int64_t unnested_term()
    {
        const char c = peek();
        if (take('(')) {
            const std::int64_t value = sum();
            if (!take(')')) fail();
            return value;
        }
        const std::size_t start = at_;
        if (std::isdigit(static_cast<unsigned char>(c))) {
            std::int64_t value = 0;
            while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) && value < 1'000'000'000)
                value = value * 10 + (text_[at_++] - '0');
            return value;
        }
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
        if (at_ == start) fail();
        const std::string word = text_.substr(start, at_ - start);
        if ((word == "max" || word == "min") && take('(')) {
            std::int64_t value = sum();
            while (take(',')) value = word == "max" ? std::max(value, sum()) : std::min(value, sum());
            if (!take(')')) fail();
            return value;
        }
        return value_of_(word);
    }

    const std::string& text_;
    const std::string& where_;
    const std::function<std::int64_t(const std::string&)>& value_of_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

std::int64_t evaluate(const std::string& expression, const std::string& where,
                      const std::function<std::int64_t(const std::string&)>& value_of)
{
    return Parser{expression, where, value_of}.all();
}

}  // namespace dlasim::dram
