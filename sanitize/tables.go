package sanitize

// bodyTables is the closed list of what may stand where in a request body. A
// line begins with the name of a kind of object and, after "!", the reason for
// which a record is dropped when such an object has a member that is not listed
// (unknown_key where none is given). Then follow its members: names joined by
// commas, "=", what the value is. *F, *N, *S and *T stand for all other members
// and say what their name is: a field, a caller-chosen name, an option, a token
// of text.
//
// What a value is: an upper-case word for scalars (the prims in grammar.go), or
// @kind for an object; "X|@kind" takes both. An array stands for each of its
// elements, "X/@kind" gives its elements a kind of their own.
const bodyTables = queryTables + leafTables + aggTables + searchTables + otherTables + langTables

const queryTables = `
plain: boost=S _name=N
query!unknown_clause: match_all,match_none=@plain term=@term terms=@terms terms_set=@terms_set range=@range
 prefix=@prefix wildcard=@wildcard regexp=@regexp fuzzy=@fuzzy ids=@ids exists=@exists type=@typeq
 match,match_phrase,common=@match match_phrase_prefix,match_bool_prefix=@match_prefix multi_match=@multi_match
 combined_fields=@combined query_string=@query_string simple_query_string=@simple_query_string intervals=@intervals
 bool=@bool boosting=@boosting constant_score=@constant_score dis_max=@dis_max function_score=@function_score
 nested=@nested has_child=@has_child has_parent=@has_parent parent_id=@parent_id
 geo_distance=@geo_distance geo_bounding_box,geo_polygon=@geo_box geo_shape,shape,xy_shape=@geo_shape geo_grid=@geo_grid
 distance_feature=@distance_feature more_like_this=@more_like_this percolate=@percolate pinned=@pinned
 rank_feature=@rank_feature script=@script_query script_score=@script_score
 span_term=@span_term span_multi=@span_multi span_near=@span_near span_or=@span_near span_not=@span_not
 span_first=@span_first span_containing,span_within=@span_within span_field_masking,field_masking_span=@span_masking
 wrapper=@wrapper knn=@knn sparse_vector=@sparse_vector weighted_tokens=@weighted_tokens text_expansion=@text_expansion
 semantic=@semantic rule,rule_query=@rule_query neural=@neural neural_sparse=@neural_sparse hybrid=@hybrid
 agentic=@agentic template=@query sltr=@sltr
bool: must,filter,should,must_not=@query minimum_should_match,boost,adjust_pure_negative,disable_coord=S _name=N
boosting: positive,negative=@query negative_boost,boost=S _name=N
constant_score: filter=@query boost=S _name=N
dis_max: queries=@query tie_breaker,boost=S _name=N
function_score: query=@query functions=@function score_mode,boost_mode,max_boost,min_score,boost=S _name=N
 weight=S script_score=@fscript random_score=@random_score field_value_factor=@fvf gauss,linear,exp=@decay
function: filter=@query weight,boost_factor=S script_score=@fscript random_score=@random_score field_value_factor=@fvf
 gauss,linear,exp=@decay _name=N
fscript: script=SCRIPT
random_score: seed=V field=F
fvf: field=F factor,modifier,missing=S
decay: multi_value_mode=S *F=@decay_of
decay_of: origin=ORIGIN|ORIGIN scale,offset,decay=S
nested: path=F query=@query score_mode,ignore_unmapped,boost=S inner_hits=@inner _name=N
has_child: type=N query=@query score_mode,ignore_unmapped,min_children,max_children,boost=S inner_hits=@inner _name=N
has_parent: parent_type=N query=@query score,score_mode,ignore_unmapped,boost=S inner_hits=@inner _name=N
parent_id: type=N id=ID ignore_unmapped,boost=S _name=N
more_like_this: fields=F like,unlike,docs=LIKE|@like like_text=LIKE ids=ID stop_words=T
 min_term_freq,max_query_terms,min_doc_freq,max_doc_freq,min_word_length,max_word_length,minimum_should_match=S
 boost_terms,include,fail_on_unsupported_field,analyzer,boost,version,version_type=S routing=ID _name=N
like: _index=IX _id=ID _type=N doc=DOC fields=F routing,_routing=ID per_field_analyzer=@field_options version,version_type=S
percolate: field=F document,documents=DOC index=IX type=N id=ID routing,preference=ID name,_name=N version,boost=S
pinned: ids=ID docs=@pinned_doc organic=@query boost=S _name=N
pinned_doc: _id,id=ID _index=IX
script_query: script=SCRIPT boost=S _name=N
script_score: query=@query script=SCRIPT min_score,boost=S _name=N
span_multi: match=@query boost=S _name=N
span_near: clauses=@span slop,in_order,boost=S _name=N
span: span_gap=@span_gap span_term=@span_term span_multi=@span_multi span_near,span_or=@span_near span_not=@span_not
 span_first=@span_first span_containing,span_within=@span_within span_field_masking,field_masking_span=@span_masking
span_gap: *F=S
span_not: include,exclude=@span dist,pre,post,boost=S _name=N
span_first: match=@span end,boost=S _name=N
span_within: big,little=@span boost=S _name=N
span_masking: query=@span field=F boost=S _name=N
wrapper: query=WRAPPER
rule_query: organic=@query match_criteria=@values ruleset_ids,ruleset_id=N boost=S _name=N
hybrid: queries,filter=@query pagination_depth,boost=S _name=N
agentic: query_text=T query_fields=F memory_id=ID boost=S _name=N
sltr: params=@values model,store,featureset=N active_features=N boost=S _name=N
values: *N=V|@values
field_options: *F=S
`

const leafTables = `
term: boost=S _name=N *F=TERM|@term_of
term_of: value=TERM case_insensitive,boost=S _name=N
terms: boost,value_type=S _name=N *F=TERM|@terms_lookup
terms_lookup: index=IX id=ID path=F routing=ID type=N store=S query=@query
terms_set: *F=@terms_set_of
terms_set_of: terms=TERM minimum_should_match=S minimum_should_match_field=F minimum_should_match_script=SCRIPT boost=S _name=N
range: boost=S _name=N *F=@range_of
range_of: gt,gte,lt,lte,from,to=BOUND format=FORMAT time_zone,relation,include_lower,include_upper,boost=S _name=N
prefix: boost=S _name=N *F=PREFIX|@prefix_of
prefix_of: value,prefix=PREFIX rewrite,case_insensitive,boost=S _name=N
wildcard: boost=S _name=N *F=WILDCARD|@wildcard_of
wildcard_of: value,wildcard=WILDCARD rewrite,case_insensitive,boost=S _name=N
regexp: boost=S _name=N *F=REGEXP|@regexp_of
regexp_of: value=REGEXP flags,flags_value,max_determinized_states,rewrite,case_insensitive,boost=S _name=N
fuzzy: boost=S _name=N *F=FUZZY|@fuzzy_of
fuzzy_of: value=FUZZY fuzziness,prefix_length,max_expansions,transpositions,rewrite,boost=S _name=N
ids: values,value=ID type=N boost=S _name=N
exists: field=F boost=S _name=N
typeq: value=N boost=S _name=N
match: boost=S _name=N *F=T|@match_of
match_of: query=T fuzziness=FUZZINESS
 operator,analyzer,minimum_should_match,slop,zero_terms_query,lenient,prefix_length,max_expansions,fuzzy_transpositions=S
 fuzzy_rewrite,auto_generate_synonyms_phrase_query,cutoff_frequency,boost,type=S _name=N
match_prefix: boost=S _name=N *F=LAST|@match_prefix_of
match_prefix_of: query=LAST fuzziness=FUZZINESS
 operator,analyzer,minimum_should_match,slop,zero_terms_query,prefix_length,max_expansions,fuzzy_transpositions=S
 fuzzy_rewrite,cutoff_frequency,boost=S _name=N
multi_match: query=T fields=F type=MATCHTYPE fuzziness=FUZZINESS
 tie_breaker,operator,analyzer,minimum_should_match,slop,zero_terms_query,lenient,prefix_length,max_expansions=S
 fuzzy_transpositions,fuzzy_rewrite,auto_generate_synonyms_phrase_query,cutoff_frequency,use_dis_max,boost=S _name=N
combined: query=T fields=F operator,minimum_should_match,zero_terms_query,auto_generate_synonyms_phrase_query,boost=S _name=N
query_string: query=LUCENE fields,default_field=F fuzziness=FUZZINESS type=MATCHTYPE
 default_operator,analyzer,quote_analyzer,analyze_wildcard,allow_leading_wildcard,lenient,minimum_should_match=S
 phrase_slop,fuzzy_prefix_length,fuzzy_max_expansions,fuzzy_rewrite,fuzzy_transpositions,rewrite,time_zone,tie_breaker=S
 quote_field_suffix,enable_position_increments,auto_generate_synonyms_phrase_query,max_determinized_states,escape,boost=S
 auto_generate_phrase_queries,lowercase_expanded_terms,locale,split_on_whitespace,use_dis_max,all_fields=S _name=N
simple_query_string: query=SIMPLE fields=F default_operator,flags,analyzer,analyze_wildcard,lenient=S
 minimum_should_match,quote_field_suffix,fuzzy_prefix_length,fuzzy_max_expansions,fuzzy_transpositions=S
 auto_generate_synonyms_phrase_query,boost=S _name=N
intervals: boost=S _name=N *F=@interval
interval: match=@interval_match prefix=@interval_prefix wildcard=@interval_wildcard regexp=@interval_regexp
 fuzzy=@interval_fuzzy range=@interval_range all_of,any_of=@interval_list boost=S _name=N
interval_match: query=T max_gaps,ordered,analyzer=S use_field=F filter=@interval_filter
interval_prefix: prefix=PREFIX analyzer=S use_field=F
interval_wildcard: pattern=WILDCARD analyzer=S use_field=F
interval_regexp: pattern=REGEXP flags,case_insensitive,analyzer=S use_field=F
interval_fuzzy: term=FUZZY fuzziness,prefix_length,transpositions,analyzer=S use_field=F
interval_range: gt,gte,lt,lte=BOUND analyzer=S use_field=F
interval_list: intervals=@interval max_gaps,ordered,mode=S filter=@interval_filter
interval_filter: after,before,contained_by,containing,not_contained_by,not_containing,not_overlapping,overlapping=@interval
 script=SCRIPT
geo_distance: distance,distance_type,validation_method,ignore_unmapped,optimize_bbox,unit,boost=S _name=N *F=GEO|GEO
geo_box: type,validation_method,ignore_unmapped,coerce,ignore_malformed,boost=S _name=N *F=GEO|GEO
geo_shape: ignore_unmapped,boost=S _name=N *F=@geo_shape_of
geo_shape_of: shape=GEO|GEO indexed_shape=@indexed_shape relation,strategy=S
indexed_shape: index=IX id=ID path=F routing=ID type=N
geo_grid: boost=S _name=N *F=@geo_grid_of
geo_grid_of: geotile,geohash,geohex=GEO ignore_unmapped,boost=S _name=N
distance_feature: field=F origin=ORIGIN|ORIGIN pivot,boost=S _name=N
rank_feature: field=F saturation,log,sigmoid,linear=@rank_function boost=S _name=N
rank_function: pivot,scaling_factor,exponent=S
span_term: boost=S _name=N *F=TERM|@span_term_of
span_term_of: value,term=TERM boost=S _name=N
knn: field=F|@knn_field query_vector=VECTOR query_vector_builder=@vector_builder filter=@query inner_hits=@inner _name=N
 k,num_candidates,visit_percentage,similarity,boost,min_score=S rescore_vector=OPTIONS *F=@knn_field
knn_field: vector=VECTOR filter=@query k,max_distance,min_score,expand_nested_docs,boost=S method_parameters,rescore=OPTIONS _name=N
vector_builder: text_embedding=@text_embedding embedding=@embedding lookup=@vector_lookup
text_embedding: model_text=T model_id=N
embedding: input=T|@embedding_input inference_id=N timeout=S
embedding_input: type,format=S value=T
vector_lookup: id=ID index=IX path=F routing=ID
sparse_vector: field=F query=T inference_id=N query_vector=@weights prune,boost=S pruning_config=OPTIONS _name=N
weights: *T=S
weighted_tokens: query_expansion_field=F|@weighted_tokens_of *F=@weighted_tokens_of
weighted_tokens_of: tokens=@weights/@weights boost=S pruning_config=OPTIONS _name=N
text_expansion: *F=@text_expansion_of
text_expansion_of: model_text=T model_id=N boost=S pruning_config=OPTIONS _name=N
semantic: field=F query=T boost=S _name=N
neural: *F=@neural_of
neural_of: query_text=T query_image=IMAGE model_id,semantic_field_search_analyzer=N filter=@query
 k,max_distance,min_score,expand_nested_docs,boost=S method_parameters,rescore=OPTIONS _name=N query_tokens=@weights
neural_sparse: *F=@neural_sparse_of
neural_sparse_of: query_text=T model_id=N query_tokens=@weights analyzer,max_token_score,boost=S
 method_parameters,two_phase_parameter=OPTIONS _name=N
`

const aggTables = `
aggs: *N=@agg
agg!unknown_agg: aggs,aggregations=@aggs meta=@values filter=@query filters,adjacency_matrix=@filters top_hits=@inner
 avg,boxplot,cardinality,extended_stats,geo_bounds,geo_centroid,cartesian_bounds,cartesian_centroid,geo_line=@agg_of
 matrix_stats,max,median_absolute_deviation,min,percentile_ranks,percentiles,rate,stats,string_stats,sum=@agg_of
 scripted_metric,t_test,top_metrics,value_count,weighted_avg,auto_date_histogram,categorize_text,children,composite=@agg_of
 date_histogram,date_range,diversified_sampler,frequent_item_sets,geo_distance,geohash_grid,geohex_grid,geotile_grid=@agg_of
 global,histogram,ip_prefix,ip_range,missing,multi_terms,nested,parent,random_sampler,range,rare_terms,reverse_nested=@agg_of
 sampler,significant_terms,significant_text,terms,time_series,variable_width_histogram=@agg_of
 avg_bucket,bucket_count_ks_test,bucket_correlation,bucket_script,bucket_selector,bucket_sort,change_point=@agg_of
 cumulative_cardinality,cumulative_sum,derivative,extended_stats_bucket,inference,max_bucket,min_bucket,moving_avg=@agg_of
 moving_fn,moving_percentiles,normalize,percentiles_bucket,serial_diff,stats_bucket,sum_bucket=@agg_of
agg_of: field,path,geo_field,sort_field=F fields=F|@agg_field script=SCRIPT missing=V|@missing type=N
 include,exclude=INCLUDE|@partition/V order=ORDER|@order buckets_path=PATH|@paths ranges=@agg_range bounds=GEO|GEO origin=GEO|GEO
 extended_bounds,hard_bounds=@bounds sources=@source_map after=@after values=V filter,background_filter=@query
 terms=@agg_field metrics=@agg_field sort=SORT|@sort value,weight=@agg_field point=@agg_field a,b=@t_test
 source_fields,group_by=F init_script,map_script,combine_script,reduce_script=SCRIPT params=@values
 script_heuristic=@fscript model_id=N inference_config,categorization_analyzer=OPTIONS categorization_filters=REGEXP missing_bucket,missing_order=S
 format=FORMAT value_type,keyed,interval,calendar_interval,fixed_interval,minimum_interval,offset,time_zone,min_doc_count=S
 shard_min_doc_count,size,from,shard_size,show_term_doc_count_error,collect_mode,execution_hint,precision=S
 precision_threshold,percents,compression,number_of_significant_value_digits,sigma,mode,unit,buckets,rounding=S
 gap_policy,window,shift,lag,predict,model,minimize,method,alternative,upper_bounds_method,fractions=S
 tdigest,hdr,settings,function,gnd,jlh,mutual_information,chi_square,percentage,p_value,count_correlation=OPTIONS rate=S
 max_docs_per_value,max_doc_count,probability,seed,similarity_threshold,max_unique_tokens,max_matched_tokens=S
 filter_duplicate_text,minimum_set_size,minimum_support=S
 prefix_length,is_ipv6,append_prefix_length,wrap_longitude,include_sort,sort_order,show_distribution,distance_type=S
 initial_buffer,sampling_method,multi_value_mode,num_buckets,use_shard_doc_count=S
agg_field: field=F missing=V script=SCRIPT include,exclude=INCLUDE|@partition/V value_type,format=S
missing: *F=V
partition: partition,num_partitions=S
order: *P=S
paths: *N=PATH
agg_range: from,to=BOUND mask=V key=N
bounds: min,max=BOUND
source_map: *N=@source_of
source_of: terms,histogram,date_histogram,geotile_grid=@agg_of
after: *N=CURSOR
filters: filters=@filter_map/@query other_bucket,keyed=S other_bucket_key,separator=N
filter_map: *N=@query
t_test: field=F filter=@query script=SCRIPT
`

const searchTables = `
search: query,post_filter=@query aggs,aggregations=@aggs knn=@knn retriever=@retriever sort=SORT|@sort collapse=@collapse
 _source=F|@source fields,docvalue_fields,stored_fields,storedFields=F|@field_spec script_fields=@script_fields
 runtime_mappings,derived=@runtime_map highlight=@highlight suggest=@suggest rescore=@rescore search_after=CURSOR
 pit=@pit slice=@slice indices_boost=@indices_boost inner_hits=@inner stats=N ext=EXT|EXT
 from,size,timeout,terminate_after,min_score,track_scores,track_total_hits,version,seq_no_primary_term,explain,profile=S
 rank=OPTIONS search_pipeline=N include_named_queries_score,verbose_pipeline,search_type,allow_partial_search_results,batched_reduce_size=S
source: includes,include,excludes,exclude=F exclude_vectors=S
field_spec: field=F format,include_unmapped=S
sort: _geo_distance=@sort_geo _script=@sort_script *O=S|@sort_of
sort_of: order,mode,format,numeric_type,unmapped_type,ignore_unmapped=S missing=MISSING nested=@sort_nested nested_path=F
 nested_filter=@query
sort_nested: path=F filter=@query nested=@sort_nested max_children=S
sort_geo: order,mode,unit,distance_type,ignore_unmapped,validation_method=S nested=@sort_nested nested_path=F nested_filter=@query
 *F=GEO|GEO
sort_script: script=SCRIPT type,order,mode=S nested=@sort_nested
collapse: field=F inner_hits=@inner max_concurrent_group_searches=S collapse=@collapse
inner: name=N sort=SORT|@sort highlight=@highlight _source=F|@source collapse=@collapse
 fields,docvalue_fields,stored_fields=F|@field_spec script_fields=@script_fields
 from,size,version,seq_no_primary_term,explain,track_scores,ignore_unmapped=S
script_fields: *N=@script_field
script_field: script=SCRIPT ignore_failure,lang=S
runtime_map: *F=S|@runtime
runtime: type,format,ignore_malformed=S script=SCRIPT fields,properties=@runtime_map input_field,target_field,fetch_fields,prefilter_field=F
 target_index=IX
highlight: fields=@highlight_fields pre_tags,post_tags=TAG highlight_query=@query matched_fields=F
 type,fragmenter,encoder,tags_schema,order,require_field_match,boundary_scanner,boundary_scanner_locale,boundary_chars=S
 boundary_max_scan,fragment_size,number_of_fragments,fragment_offset,no_match_size,max_analyzed_offset,phrase_limit=S
 max_fragment_length,force_source,highlight_filter=S options=OPTIONS
highlight_fields: *F=@highlight
suggest: text=SUGGEST *N=@suggester
suggester: text,prefix=SUGGEST regex=REGEXP term,phrase,completion=@suggest_of
suggest_of: field=F fuzzy,regex,smoothing=OPTIONS contexts=@contexts collate=@collate highlight=@tags direct_generator=@generator
 analyzer,size,shard_size,sort,suggest_mode,max_edits,prefix_length,min_word_length,max_inspections,min_doc_freq=S
 max_term_freq,string_distance,lowercase_terms,skip_duplicates,gram_size,confidence,max_errors,separator=S
 real_word_error_likelihood,force_unigrams,token_limit=S
generator: field=F pre_filter,post_filter,suggest_mode,min_word_length,prefix_length,max_edits,size,max_inspections=S
 min_doc_freq,max_term_freq=S
tags: pre_tag,post_tag=TAG
contexts: *F=V|@context
context: context=V|GEO lat,lon=GEO boost,precision,neighbours,prefix=S
collate: query=@collate_query params=@values prune=S
collate_query: source=QTEMPLATE|QTEMPLATE id=N
rescore: window_size=S query=@rescore_query learning_to_rank=@ltr script=@fscript
rescore_query: rescore_query=@query query_weight,rescore_query_weight,score_mode=S
ltr: model_id=N params=@values
pit: id=STATE keep_alive=S
slice: field=F id,max=S
indices_boost: *I=S
retriever: standard=@r_standard knn=@knn rrf,linear=@r_many text_similarity_reranker=@r_rerank rescorer=@r_rescore
 pinned=@r_pinned rule=@r_rule diversify=@r_diversify retriever=@retriever weight,normalizer=S
r_standard: query,filter=@query search_after=CURSOR sort=SORT|@sort collapse=@collapse terminate_after,min_score=S _name=N
r_many: retrievers=@retriever query=T fields=F filter=@query rank_window_size,window_size,rank_constant,normalizer,min_score=S _name=N
r_rerank: retriever=@retriever inference_text=T field=F inference_id=N filter=@query rank_window_size,min_score=S chunk_rescorer=OPTIONS _name=N
r_rescore: retriever=@retriever rescore=@rescore filter=@query min_score=S _name=N
r_pinned: retriever=@retriever ids=ID docs=@pinned_doc filter=@query rank_window_size,min_score=S _name=N
r_rule: retriever=@retriever match_criteria=@values ruleset_ids=N filter=@query rank_window_size,min_score=S _name=N
r_diversify: retriever=@retriever field=F query_vector=VECTOR query_vector_builder=@vector_builder type,size,lambda=S filter=@query
 rank_window_size,min_score=S _name=N
`

const otherTables = `
msearch_header: index,indices=IX type,types=N preference=ID routing=ID search_type,searchType,request_cache=S
 ccs_minimize_roundtrips,allow_partial_search_results,expand_wildcards,ignore_unavailable,allow_no_indices,ignore_throttled=S
 rest_total_hits_as_int,max_concurrent_shard_requests,pre_filter_shard_size,batched_reduce_size=S
template_search: id=N source,inline=TEMPLATE|TEMPLATE params=@values explain,profile,lang=S
count: query=@query runtime_mappings=@runtime_map min_score,terminate_after=S
by_query: query=@query script=SCRIPT slice=@slice max_docs,conflicts,size,sort=S runtime_mappings=@runtime_map
mget: docs=@mget_doc ids=ID
mget_doc: _id=ID _index=IX _type,type=N routing,_routing,parent=ID _source=F|@source stored_fields,fields=F
 version,_version,version_type=S
bulk_meta: _index=IX _id=ID _type=N routing,_routing,parent,_parent=ID pipeline=N dynamic_templates=@dynamic _source=F|@source
 op_type,version,_version,version_type,_version_type,if_seq_no,if_primary_term,retry_on_conflict,_retry_on_conflict=S
 require_alias,require_data_stream,list_executed_pipelines,timestamp,_timestamp,ttl,_ttl=S
dynamic: *F=N
update: doc,upsert=DOC script=SCRIPT doc_as_upsert,detect_noop,scripted_upsert,if_seq_no,if_primary_term=S
 _source=F|@source fields=F params=@values lang=S
terms_enum: field=F string=PREFIX search_after=V size,timeout,case_insensitive=S index_filter=@query
field_caps: fields=F index_filter=@query runtime_mappings=@runtime_map types,filters=S
open_pit: index_filter=@query
close_pit: id,pit_id=STATE
scroll: scroll=S scroll_id=STATE
search_shards: query=@query slice=@slice
termvectors: doc=DOC fields=F per_field_analyzer=@field_options filter=OPTIONS docs=@termvectors_doc ids=ID
 field_statistics,term_statistics,positions,offsets,payloads,version,version_type=S routing=ID parameters=@termvectors
termvectors_doc: _id=ID _index=IX _type=N doc=DOC fields=F routing=ID filter=OPTIONS per_field_analyzer=@field_options
 field_statistics,term_statistics,positions,offsets,payloads,version,version_type=S
rank_eval: requests=@rank_request metric=OPTIONS templates=@rank_template max_concurrent_searches=S
rank_request: id=N request=@search template_id=N params=@values ratings=@rating summary_fields=F
rank_template: id=N template=@template_search
rating: _index=IX _id=ID rating=S
reindex: source=@reindex_source dest=@reindex_dest script=SCRIPT max_docs,size,conflicts=S
reindex_source: index=IX type=N query=@query size=S sort=SORT|@sort _source=F|@source slice=@slice runtime_mappings=@runtime_map
 remote=SECRET|SECRET
reindex_dest: index=IX type,pipeline=N op_type,version_type=S routing=ID
graph: query=@query vertices=@vertex connections=@graph controls=OPTIONS
vertex: field=F size,min_doc_count,shard_min_doc_count=S include=V|@vertex_term exclude=V
vertex_term: term=V boost=S
`

// langTables are the bodies of the query languages, and of what is searched
// through a stored template or drawn as a map.
const langTables = `
esql: query=ESQL filter=@query params=V/V|@esql_param tables=@esql_tables pragma=OPTIONS
 locale,time_zone,columnar,profile,include_ccs_metadata,include_execution_metadata,accept_pragma_risks,drop_null_columns=S
 wait_for_completion_timeout,keep_on_completion,keep_alive,allow_partial_results,project_routing=S
esql_param: *N=V|@esql_param_of
esql_param_of: value=V identifier,pattern=F
esql_tables: *N=@esql_columns
esql_columns: *F=@esql_column
esql_column: *S=V
sql: query=SQL filter=@query params,parameters=V/V|@sql_param cursor=STATE catalog=N runtime_mappings=@runtime_map
 fetch_size,columnar,time_zone,mode,version,request_timeout,page_timeout,field_multi_value_leniency,index_include_frozen=S
 wait_for_completion_timeout,keep_on_completion,keep_alive,binary_format,allow_partial_search_results,project_routing=S
sql_param: type=S value=V
sql_close: cursor=STATE
eql: query=EQL filter=@query fields=F|@field_spec runtime_mappings=@runtime_map pit=@pit
 event_category_field,timestamp_field,tiebreaker_field,implicit_join_key_field=F
 size,fetch_size,result_position,case_sensitive,max_samples_per_key,wait_for_completion_timeout,keep_on_completion=S
 keep_alive,allow_partial_search_results,allow_partial_sequence_results,ccs_minimize_roundtrips,project_routing=S
ppl: query=PPL filter=@query parameters=V/V|@sql_param cursor=STATE fetch_size,format,profile,analyze,explain=S
application: params=@values
mvt: fields=F|@field_spec aggs=@aggs query=@query runtime_mappings=@runtime_map sort=SORT|@sort
 exact_bounds,extent,buffer,grid_agg,grid_precision,grid_type,size,track_total_hits,with_labels,project_routing=S
analyze: text=T field=F analyzer,tokenizer,normalizer,filter,char_filter,explain,attributes=S
`
