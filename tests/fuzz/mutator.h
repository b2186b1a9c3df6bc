// Seeded mutations of good files. JSON is changed as a tree - values, keys, parts of other files - and then, at times, as text;
// everything else is changed as lines, words, numbers and bytes.
#pragma once
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace dlasim::fuzz {

class Mutator {
public:
    Mutator(std::uint64_t seed, std::vector<std::string> seeds, std::vector<std::string> words);

    std::string next();
    /// The last input was taken: later ones may start from it.
    void keep(const std::string& input);

private:
    using Json = nlohmann::ordered_json;

    std::size_t below(std::size_t limit) { return random_() % limit; }
    const std::string& any_file();
    std::string changed_tree(const std::string& text);
    void change(Json& tree);
    Json scalar(const Json& before);
    Json part_of_another();
    std::string changed_text(std::string text);
    void change_lines(std::string& text);
    void change_number(std::string& text);

    std::mt19937_64 random_;
    std::vector<std::string> files_, words_;
    std::size_t seeds_ = 0;
};

}  // namespace dlasim::fuzz
