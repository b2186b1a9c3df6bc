#include "base/files/spelling.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace dlasim {

std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        next[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
            const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (exchanged) next[j] = std::min(next[j], before[j - 2] + 1);
        }
        before = std::exchange(row, next);
    }
    return row[b.size()];
}

namespace {

std::string in_small_letters(std::string_view word)
{
    std::string text(word);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

}  // namespace

std::string meant(std::string_view word, const std::vector<std::string>& known)
{
    const std::string small = in_small_letters(word);
    const std::size_t slip = word.size() < 4 ? 1 : std::max<std::size_t>(2, word.size() / 3);
    std::string best;
    std::size_t least = slip + 1;
    for (const std::string& name : known) {
        const std::size_t longer = std::max(name.size(), small.size()), shorter = std::min(name.size(), small.size());
        if (longer - shorter >= least) continue;
        if (const std::size_t apart = edit_distance(small, in_small_letters(name)); apart < least) {
            least = apart;
            best = name;
        }
    }
    return best;
}

std::string suggest(std::string_view word, const std::vector<std::string>& known)
{
    if (known.empty()) return "";
    if (const std::string near = meant(word, known); !near.empty()) return " (did you mean \"" + near + "\"?)";
    std::string list;
    for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
    return " (known: " + list + ")";
}

}  // namespace dlasim
