# The whole range that the reader takes, through planning only.
if(TARGET dlasim::lint)
    dlasim_test_program(random_plans random_plans.cpp USES dlasim::lint dlasim::lowering)
    add_test(NAME RandomPlans.1_to_700_more COMMAND random_plans 1 700)
    add_test(NAME RandomPlans.large_output_of_a_batch COMMAND random_plans 144773 1)
    add_test(NAME RandomPlans.100001_to_50000_more COMMAND random_plans 100001 50000)
    set_tests_properties(RandomPlans.1_to_700_more RandomPlans.large_output_of_a_batch PROPERTIES LABELS golden TIMEOUT 600)
    set_tests_properties(RandomPlans.100001_to_50000_more PROPERTIES LABELS long TIMEOUT 6000)
endif()
# Random layers against integers of NumPy, a kind a test.
if(TARGET dlasim)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    foreach(kind image direct deconv pool sdp tenbits post winograd fp16 fp16post lrn rubik bdma)
        add_test(NAME RandomReference.${kind} COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/scripts/random_reference.py
                                                      --dlasim $<TARGET_FILE:dlasim> --kind ${kind} --count 20 --jobs 1)
        add_test(NAME RandomReference.${kind}_long COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/scripts/random_reference.py
                                                           --dlasim $<TARGET_FILE:dlasim> --kind ${kind} --first 100001 --count 2000 --jobs 1)
        set_tests_properties(RandomReference.${kind} PROPERTIES LABELS golden TIMEOUT 600)
        set_tests_properties(RandomReference.${kind}_long PROPERTIES LABELS long TIMEOUT 6000)
    endforeach()
endif()
