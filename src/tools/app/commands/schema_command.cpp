#include "app/commands/schema_command.h"

#include <algorithm>
#include <vector>

#include "app/embedded.h"
#include "base/files/console.h"
#include "config/descriptor_keys.h"
#include "config/layer/transfer_reader.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "config/network_keys.h"
#include "config/sweep/sweep.h"
#include "dram/read/keys.h"
#include "suite/suite.h"

namespace dlasim {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kDraft = "https://json-schema.org/draft/2020-12/schema";

/// A key of any table.
struct SchemaKey {
    std::string path;  // "input/width", "cases/[]/file", "timing/*"
    KeyRow row;
    OrderedJson low, high, otherwise;  // null: none
};

std::vector<SchemaKey> keys_of(const std::vector<PlacedKey>& placed)
{
    std::vector<SchemaKey> keys;
    for (const PlacedKey& key : placed) {
        keys.push_back({key.path, key.row, nullptr, nullptr, nullptr});
        if (key.low != key.high) keys.back().low = key.low;
        if (key.low != key.high && key.high != INT64_MAX) keys.back().high = key.high;
        if (!key.otherwise.empty()) keys.back().otherwise = key.otherwise;
    }
    return keys;
}

std::vector<SchemaKey> hardware_schema_keys()
{
    std::vector<SchemaKey> keys;
    keys.reserve(std::size(kHardwareKeys));
    for (const KeyRow& row : kHardwareKeys) keys.push_back({std::string(row.name), row, nullptr, nullptr, "the preset's"});
    for (const HardwareField& field : hardware_fields()) {
        std::string path = field.path;
        std::ranges::replace(path, '.', '/');
        keys.push_back({path, {{}, field.flag ? "flag" : "integer", field.unit, field.meaning}, nullptr, nullptr, "the preset's"});
        if (!field.flag) keys.back().low = field.range.low, keys.back().high = field.range.high;
    }
    return keys;
}

/// Keys of a device file; with `laid_over`, options over another memory: nothing has to be there.
std::vector<SchemaKey> device_keys(bool laid_over)
{
    std::vector<SchemaKey> keys;
    for (const dram::ConfigKey& key : dram::kConfigKeys) {
        if (key.row.name.starts_with("table/")) continue;
        keys.push_back({std::string(key.row.name), key.row, nullptr, nullptr, nullptr});
        if (key.most > key.least) keys.back().low = key.least, keys.back().high = key.most;
        else if (key.low != key.high) keys.back().low = key.low;
        if (key.low != key.high && key.high != INT64_MAX) keys.back().high = key.high;
        if (laid_over) keys.back().otherwise = "the memory's";
    }
    return keys;
}

/// One key, or the root, with those below it.
struct Node {
    std::string name;
    const SchemaKey* key = nullptr;
    std::vector<Node> below;  // in the order of the table

    Node& at(const std::string& of)
    {
        const auto known = std::ranges::find(below, of, &Node::name);
        return known != below.end() ? *known : below.emplace_back(Node{of, nullptr, {}});
    }
};

Node tree_of(const std::vector<SchemaKey>& keys)
{
    Node root;
    for (const SchemaKey& key : keys) {
        Node* node = &root;
        for (std::size_t begin = 0; begin <= key.path.size();) {
            const std::size_t end = std::min(key.path.find('/', begin), key.path.size());
            node = &node->at(key.path.substr(begin, end - begin));
            begin = end + 1;
        }
        node->key = &key;
    }
    return root;
}

OrderedJson schema_of(const Node& node);

/// Objects and lists depend on the context in which they are needed, so only single values are required.
bool required(const SchemaKey& key)
{
    const std::string_view type = key.row.type;
    return key.otherwise.is_null() && key.row.when.empty() && type != "object" && type != "list" && type.find(" or ") == type.npos;
}

void add_object(OrderedJson& schema, const Node& node)
{
    OrderedJson properties = OrderedJson::object(), needed = OrderedJson::array(), others = false;
    for (const Node& below : node.below) {
        const std::string& name = below.name;
        if (name == "[]") continue;
        if (name == "*") {
            others = schema_of(below);
            continue;
        }
        properties[name] = schema_of(below);
        if (below.key != nullptr && required(*below.key)) needed.push_back(name);
    }
    schema["properties"] = std::move(properties);
    schema["additionalProperties"] = std::move(others);
    if (!needed.empty()) schema["required"] = std::move(needed);
}

/// The schema of one word of "flag or object".
OrderedJson type_schema(std::string_view type, const Node& node)
{
    OrderedJson schema;
    if (type == "integer" || type == "number") {
        schema["type"] = type;
        if (!node.key->low.is_null()) schema["minimum"] = node.key->low;
        if (!node.key->high.is_null()) schema["maximum"] = node.key->high;
    } else if (type == "flag") {
        schema["type"] = "boolean";
    } else if (type == "list") {
        schema["type"] = "array";
        for (const Node& below : node.below)
            if (below.name == "[]") schema["items"] = schema_of(below);
    } else if (type == "object") {
        schema["type"] = "object";
        if (!node.below.empty()) add_object(schema, node);
    } else {  // text, file
        schema["type"] = "string";
    }
    return schema;
}

/// Types that the table gives, "integer or list".
std::vector<std::string_view> types_of(std::string_view text)
{
    std::vector<std::string_view> types;
    for (;;) {
        const std::size_t end = text.find(" or ");
        types.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return types;
        text.remove_prefix(end + 4);
    }
}

OrderedJson schema_of(const Node& node)
{
    if (node.key == nullptr) {  // the root, an element of a list, an object of a path such as "cbuf.banks"
        OrderedJson schema{{"type", "object"}};
        add_object(schema, node);
        return schema;
    }
    const KeyRow& row = node.key->row;
    OrderedJson schema, kinds = OrderedJson::array();
    for (const std::string_view type : types_of(row.type)) kinds.push_back(type_schema(type, node));
    if (!row.choices.empty()) {
        OrderedJson values = OrderedJson::array();
        for (std::string_view rest = row.choices; !rest.empty();) {
            const std::size_t end = std::min(rest.find(' '), rest.size());
            values.push_back(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        kinds[0]["enum"] = std::move(values);
    }
    if (kinds.size() == 1) schema = std::move(kinds[0]);
    else schema["anyOf"] = std::move(kinds);
    std::string help(row.meaning);
    if (!row.unit.empty()) help += fmt::format(" [{}]", row.unit);
    if (!row.when.empty()) help += fmt::format(" ({})", row.when);
    if (node.key->otherwise.is_string()) help += "; default: " + node.key->otherwise.get<std::string>();
    schema["description"] = std::move(help);
    return schema;
}

OrderedJson object_schema(const std::vector<SchemaKey>& keys) { return schema_of(tree_of(keys)); }

/// A layer, or with its "op" a copy, a reshape or a normalisation.
OrderedJson layer_schema()
{
    OrderedJson schema = object_schema(keys_of(layer_keys()));
    for (const TransferKeys& transfer : transfer_keys())
        schema = {{"if", {{"properties", {{"op", {{"const", transfer.op}}}}}, {"required", {"op"}}}},
                  {"then", object_schema(keys_of(transfer.placed))},
                  {"else", std::move(schema)}};
    return schema;
}

/// Values of an axis are lists or expressions; a name is a path of the hardware, the layer or the memory.
OrderedJson sweep_schema()
{
    OrderedJson schema = object_schema(keys_of(sweep_keys()));
    OrderedJson& axes = schema["properties"]["axes"];
    const auto or_expression = [](OrderedJson& axis) {
        axis["type"] = {"array", "string"};
        axis["minItems"] = 1;
    };
    for (auto& [name, axis] : axes["properties"].items()) or_expression(axis);
    or_expression(axes["additionalProperties"]);
    return schema;
}

/// A device, or options laid over a memory named by "kind".
OrderedJson memory_schema()
{
    std::vector<SchemaKey> options = device_keys(true);
    for (SchemaKey& key : keys_of(memory_keys())) {
        if (key.path != "kind") key.otherwise = "the memory's";
        options.push_back(std::move(key));
    }
    for (const dram::ShortOption& option : dram::kShortOptions) {
        std::string path = option.path;
        std::ranges::replace(path, '.', '/');
        for (SchemaKey& key : device_keys(true))
            if (key.path == path) {
                key.path = option.name;
                if (key.path == "refresh") key.row.type = "text or object";  // the policy, or all of the device's "refresh"
                options.push_back(std::move(key));
            }
    }
    return {{"if", {{"required", {"kind"}}}}, {"then", object_schema(options)}, {"else", object_schema(device_keys(false))}};
}

}  // namespace

int schema_command(const std::string& kind)
{
    OrderedJson body;
    if (kind == "layer") body = layer_schema();
    if (kind == "network") body = object_schema(keys_of(network_keys()));
    if (kind == "sweep") body = sweep_schema();
    if (kind == "hardware") body = object_schema(hardware_schema_keys());
    if (kind == "memory") body = memory_schema();
    if (kind == "suite") body = object_schema(keys_of(suite_keys()));
    OrderedJson schema{{"$schema", kDraft}, {"title", "dlasim " + kind}};
    schema.update(body);
    say("{}\n", schema.dump(1));
    return 0;
}

int new_command(const std::string& kind)
{
    say("{}", embedded(template_files(), kind));
    return 0;
}

}  // namespace dlasim
