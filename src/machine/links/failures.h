// What goes wrong inside a machine while SystemC runs it. An exception must not cross the kernel: a
// process that catches one reports it here, and the machine stops.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dlasim {

/// What a foreign call threw that has no words of its own.
inline constexpr const char* kNamelessError = "something that is no std::exception was thrown";

class Failures {
public:
    /// Called with the first failure, in the order of registration. The last one may throw.
    void listen(std::function<void(const std::string&)> listener) { listeners_.push_back(std::move(listener)); }

    void report(const std::string& unit, const std::string& what)
    {
        if (any_) return;
        any_ = true;
        first_ = unit + ": " + what;
        for (const auto& listener : listeners_) listener(first_);
    }
    /// The machine has been reset: it works again, and the next failure is reported.
    void forget()
    {
        any_ = false;
        first_.clear();
    }
    bool any() const { return any_; }
    /// Unit and reason; empty if there is none.
    const std::string& first() const { return first_; }

private:
    bool any_ = false;
    std::string first_;
    std::vector<std::function<void(const std::string&)>> listeners_;
};

}  // namespace dlasim
