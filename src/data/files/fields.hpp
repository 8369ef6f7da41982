#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>

#include "core/math/matrix.hpp"
#include "data/files/json_writer.hpp"

namespace attn {

// Objects as JSON, each by a list of its members.

/// When a member is written: always, or unless it is false or holds nothing. One that is null never is.
enum class WriteWhen { always, unless_empty };

/// A member of an object: its name, and where its value is: in a member of the object; in what a function makes of the
/// object, or of the object and what it is written in; or here, where it is the same for all.
template <class Get>
struct Field {
  std::string_view name;
  Get get;
  WriteWhen when = WriteWhen::always;
};
template <class Get>
Field(std::string_view, Get) -> Field<Get>;
template <class Get>
Field(std::string_view, Get, WriteWhen) -> Field<Get>;

/// The members of an object, in order.
template <class T, class... Gets>
struct Object {
  using Type = T;
  std::tuple<Field<Gets>...> fields;
};
template <class T, class... Gets>
constexpr Object<T, Gets...> object(Field<Gets>... fields) {
  return {{fields...}};
}

/// The objects that are written in an `In`, which some of their members need to know: a tuple of rows `object<T>(…)`.
template <class In>
constexpr std::tuple<> objects_in = {};

/// Which of the rows is that of T; behind the last, where none is.
template <class T, class... Objects>
constexpr std::size_t place_of_object(const std::tuple<Objects...>&) {
  std::size_t place = 0;
  (void)((!std::same_as<T, typename Objects::Type> && ++place) && ...);
  return place;
}

/// A member of a member.
template <class Outer, class Inner>
constexpr auto through(Outer outer, Inner inner) {
  return [=](const auto& object) -> const auto& { return std::invoke(inner, std::invoke(outer, object)); };
}

/// A place, or several, counted from 1.
template <class Get>
constexpr auto from_1(Get get) {
  return [=](const auto& object) {
    auto places = std::invoke(get, object);
    if constexpr (std::integral<decltype(places)>) {
      ++places;
    } else {
      for (auto& place : places) ++place;
    }
    return places;
  };
}

/// A choice by its name. The names stand in the order of the choices.
template <class Get, std::size_t count>
constexpr auto named(Get get, const std::array<std::string_view, count>& names) {
  return [get, &names](const auto& object) { return names.at(static_cast<std::size_t>(std::invoke(get, object))); };
}

template <class Get, class T, class In>
decltype(auto) member_value(const Field<Get>& field, const T& object, const In& in) {
  if constexpr (std::is_invocable_v<Get, const T&, const In&>) {
    return std::invoke(field.get, object, in);
  } else if constexpr (std::is_invocable_v<Get, const T&>) {
    return std::invoke(field.get, object);
  } else {
    return (field.get);
  }
}

template <class T>
bool is_written(const T& value, WriteWhen when) {
  if constexpr (std::is_pointer_v<T> || requires { value.operator bool(); }) {
    return static_cast<bool>(value);
  } else if constexpr (requires { value.empty(); }) {
    return when == WriteWhen::always || !value.empty();
  } else if constexpr (std::same_as<T, bool>) {
    return when == WriteWhen::always || value;
  } else {
    return true;
  }
}

/// A value by what it is: an object by its row; one whose members have other names each time as pairs; what writes
/// itself; a number, a word, a matrix, or a list. A kind that is written in another way has a function of this name.
template <class T, class In>
void write_value(const T& value, const In& in, JsonWriter& json) {
  constexpr std::size_t place = place_of_object<T>(objects_in<In>);
  if constexpr (place < std::tuple_size_v<std::remove_const_t<decltype(objects_in<In>)>>) {
    const auto write_one = [&](const auto& field) {
      const auto& member = member_value(field, value, in);
      if (!is_written(member, field.when)) return;
      json.key(field.name);
      write_value(member, in, json);
    };
    json.begin_object();
    std::apply([&](const auto&... field) { (write_one(field), ...); }, std::get<place>(objects_in<In>).fields);
    json.end_object();
  } else if constexpr (std::invocable<const T&, JsonWriter&>) {
    value(json);
  } else if constexpr (std::same_as<T, std::monostate>) {
    json.null();
  } else if constexpr (std::same_as<T, bool>) {
    json.boolean(value);
  } else if constexpr (std::integral<T>) {
    json.integer(static_cast<std::uint64_t>(value));
  } else if constexpr (std::floating_point<T>) {
    json.number(value);
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    json.string(value);
  } else if constexpr (std::same_as<T, Matrix>) {
    json.matrix(value);
  } else if constexpr (requires { *value; }) {
    write_value(*value, in, json);
  } else if constexpr (requires { std::variant_size<T>::value; }) {
    std::visit([&](const auto& one) { write_value(one, in, json); }, value);
  } else if constexpr (requires { value.begin()->second; }) {
    json.begin_object();
    for (const auto& [name, member] : value) {
      json.key(name);
      write_value(member, in, json);
    }
    json.end_object();
  } else {
    json.begin_array();
    for (const auto& element : value) write_value(element, in, json);
    json.end_array();
  }
}

/// Rows and columns.
inline void write_value(const Shape& shape, const auto&, JsonWriter& json) {
  json.begin_array();
  json.integer(shape.rows);
  json.integer(shape.columns);
  json.end_array();
}

}  // namespace attn
